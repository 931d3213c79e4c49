/** Which sessions are whose: those whose keys begin as their user's do. */
import { GatewayError } from "../protocol/gateway-error.ts";

/** Somebody who was let in. */
export interface SessionUser {
  /** How the keys begin of all sessions that are there for them. Absent: any. */
  readonly sessions?: string | undefined;
}

/** Whether somebody may know of a session. */
export function sees({ sessions = "" }: SessionUser, sessionKey: string): boolean {
  return sessionKey.startsWith(sessions);
}

/** Throws `forbidden`, whether there is such a session or not. */
export function assertOwn(user: SessionUser, sessionKey: string): void {
  if (sees(user, sessionKey)) return;
  const beginning = JSON.stringify(user.sessions);
  throw new GatewayError(
    "forbidden",
    `The token is for sessions whose keys begin with ${beginning}.`,
  );
}
