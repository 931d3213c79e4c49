/** What the functions of an inbox need. */
import type { Run } from "../sql/database.ts";

/** The inbox of a session, in a transaction that has the session's row lock. */
export interface Inbox {
  readonly run: Run;
  readonly schema: string;
  /** The session's number. */
  readonly session: number;
}
