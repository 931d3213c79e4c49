/** Checks whether a session belongs to a user, by the prefix of its key. */
import { GatewayError } from "../protocol/gateway-error.ts";

/** An authenticated client. */
export interface SessionUser {
  /** The prefix of the session keys that the client may use. Absent: all sessions. */
  readonly sessions?: string | undefined;
}

/** Whether the client may see the session. */
export function sees({ sessions = "" }: SessionUser, sessionKey: string): boolean {
  return sessionKey.startsWith(sessions);
}

/** Throws `forbidden` for another user's session, whether it exists or not. */
export function assertOwn(user: SessionUser, sessionKey: string): void {
  if (sees(user, sessionKey)) return;
  const beginning = JSON.stringify(user.sessions);
  throw new GatewayError(
    "forbidden",
    `The token is for sessions whose keys begin with ${beginning}.`,
  );
}
