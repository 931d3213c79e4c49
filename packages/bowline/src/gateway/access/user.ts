/** The person whose message it is. */
import type { Access } from "./access.ts";

/**
 * The person whose message a run answers, as authentication found them. Kept with the message and
 * with the session, so that it is the same when a run is resumed after a restart.
 */
export interface User {
  /**
   * The `user` of what `authorize` returned. Undefined for `token` and `tokens`, and where
   * `authorize` names no user.
   */
  readonly id?: string;
  /** The beginning of the keys of the user's sessions. Undefined: the user has all sessions. */
  readonly sessions?: string;
}

export function userOf({ user, sessions }: Pick<Access, "user" | "sessions">): User {
  return { ...(user !== undefined && { id: user }), ...(sessions !== undefined && { sessions }) };
}

/** The metadata of a session that this user creates; none for a user of whom nothing is known. */
export function ownedBy(user: User = {}): { readonly user?: User } {
  return Object.keys(user).length > 0 ? { user } : {};
}

/** The user who created a session. Undefined when its metadata does not say so. */
export function ownerIn(metadata: Readonly<Record<string, unknown>> = {}): User | undefined {
  const { user } = metadata;
  if (typeof user !== "object" || user === null) return undefined;
  const { id, sessions } = user as Readonly<Record<string, unknown>>;
  const isUser = [id, sessions].every((part) => part === undefined || typeof part === "string");
  return isUser ? user : undefined;
}
