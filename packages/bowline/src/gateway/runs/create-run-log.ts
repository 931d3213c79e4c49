/** The log of a run: what of it is kept to send again, and who is told of it. */
import { RunLog } from "../log/run-log.ts";
import type { Host } from "./host.ts";

export function createRunLog({ limits, publish }: Host, runId: string, sessionKey: string): RunLog {
  const { maxReplayEvents: maxEvents, maxReplayLength: maxLength } = limits;
  return new RunLog({
    runId,
    sessionKey,
    maxEvents,
    maxLength,
    // Less than may wait for a client: one that asks for it is not given up for it.
    maxSnapshot: limits.maxBufferedBytes * 0.75,
    publish: (frame, event) => publish(sessionKey, frame, event),
  });
}
