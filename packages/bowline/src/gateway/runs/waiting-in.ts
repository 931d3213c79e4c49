/** The messages of a session that wait. */
import type { SecretFilter } from "../../secrets.ts";
import type { WaitingMessage } from "../protocol/protocol.ts";
import type { Lane } from "./lane.ts";
import type { PendingMessage } from "./pending.ts";
import type { Run } from "./run.ts";
import { toWaiting } from "./waiting-message.ts";

/** All of a session, in the order in which they go in. */
export function waitingIn(
  { current, held, waiting }: Lane,
  filter: SecretFilter,
): WaitingMessage[] {
  const ofRun = (run: Run): WaitingMessage[] =>
    run.waiting.map(({ pending }) => toWaiting(pending, kindIn(run, pending), filter));
  const given = current === undefined ? [] : ofRun(current);
  const kept = held.map(({ pending }) => toWaiting(pending, "held", filter));
  // Before what the run leaves, and before all of one that is about to begin; one that was taken up
  // again takes nothing of it.
  const first = current?.first === undefined ? [...given, ...kept] : [...kept, ...given];
  return [...first, ...waiting.flatMap(ofRun)];
}

/** What a run has left when it is over waits for the next, or as one of its own. */
function kindIn({ log, isOver }: Run, { id, kind }: PendingMessage): WaitingMessage["kind"] {
  if (id === log.runId) return "send";
  if (!isOver || log.isStopped) return kind;
  return log.state === "final" ? "send" : "held";
}
