/** Runs that have not begun: no worker and no stored session has anything of them. */
import type { WaitingMessage } from "../protocol/protocol.ts";
import { createRunLog } from "../runs/create-run-log.ts";
import { END_SEQ, type StoredRun, type StoredRunOptions } from "./stored-run.ts";

export interface UnbegunRun {
  readonly runId: string;
  readonly sessionKey: string;
  readonly limits: StoredRunOptions["limits"];
}

/** Returns a run that waits for its turn. Its first event, number 0, is that of its message. */
export function queuedRun(run: UnbegunRun, message: WaitingMessage): StoredRun {
  const log = createRunLog(run);
  log.append("chat.queued", message);
  return log;
}

/** Returns a run that was cancelled while it waited. Its numbers are those of an ended, stored run. */
export function cancelledRun(run: UnbegunRun): StoredRun {
  const log = createRunLog(run);
  log.continueFrom(END_SEQ, []);
  log.state = "aborted";
  log.append("chat.aborted", { usage: {} });
  return log;
}
