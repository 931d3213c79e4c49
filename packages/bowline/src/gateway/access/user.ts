/** The user of a message. */
import type { Access } from "./access.ts";

/**
 * The person whose message a run answers, as authentication identified them. Stored with the
 * message and the session, so that a resumed run has the same user.
 */
export interface User {
  /**
   * The `user` that `authorize` returned. Undefined for `token` and `tokens`, and if `authorize`
   * names no user.
   */
  readonly id?: string;
  /** The prefix of the user's session keys. Undefined: the user may use all sessions. */
  readonly sessions?: string;
}

export function userOf({ user, sessions }: Pick<Access, "user" | "sessions">): User {
  return { ...(user !== undefined && { id: user }), ...(sessions !== undefined && { sessions }) };
}

/**
 * Returns the metadata of a session that this user creates. Empty if nothing is known about the
 * user.
 */
export function ownedBy(user: User = {}): { readonly user?: User } {
  return Object.keys(user).length > 0 ? { user } : {};
}

/** Returns the user who created a session. Undefined if its metadata names none. */
export function ownerIn(metadata: Readonly<Record<string, unknown>> = {}): User | undefined {
  const { user } = metadata;
  if (typeof user !== "object" || user === null) return undefined;
  const { id, sessions } = user as Readonly<Record<string, unknown>>;
  const isUser = [id, sessions].every((part) => part === undefined || typeof part === "string");
  return isUser ? user : undefined;
}
