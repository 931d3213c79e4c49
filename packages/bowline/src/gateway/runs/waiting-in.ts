/** Lists the waiting messages of a session. */
import type { SecretFilter } from "../../secrets.ts";
import type { WaitingMessage } from "../protocol/protocol.ts";
import type { Lane } from "./lane.ts";
import type { PendingMessage } from "./pending.ts";
import type { Run } from "./run.ts";
import { toWaiting } from "./waiting-message.ts";

/** Returns the waiting messages in the order in which runs will take them. */
export function waitingIn(
  { current, held, waiting }: Lane,
  filter: SecretFilter,
): WaitingMessage[] {
  const ofRun = (run: Run): WaitingMessage[] =>
    run.waiting.map(({ pending }) => toWaiting(pending, kindIn(run, pending), filter));
  const given = current === undefined ? [] : ofRun(current);
  const kept = held.map(({ pending }) => toWaiting(pending, "held", filter));
  // Held messages precede the messages of a run that is about to begin. A resumed run takes no held
  // messages.
  const first = current?.first === undefined ? [...given, ...kept] : [...kept, ...given];
  return [...first, ...waiting.flatMap(ofRun)];
}

/** The messages of an ended run wait for the next run, or begin their own. */
function kindIn({ log, isOver }: Run, { id, kind }: PendingMessage): WaitingMessage["kind"] {
  if (id === log.runId) return "send";
  if (!isOver || log.isStopped) return kind;
  return log.state === "final" ? "send" : "held";
}
