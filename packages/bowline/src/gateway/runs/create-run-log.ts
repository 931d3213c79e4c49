/** Creates the log of a run, which buffers events for resending and publishes new ones. */
import { RunLog } from "../log/run-log.ts";
import type { Host } from "./host.ts";

export function createRunLog({ limits, publish }: Host, runId: string, sessionKey: string): RunLog {
  const { maxReplayEvents: maxEvents, maxReplayLength: maxLength } = limits;
  return new RunLog({
    runId,
    sessionKey,
    maxEvents,
    maxLength,
    // Below the buffer limit of a client, so that the snapshot alone does not disconnect a client.
    maxSnapshot: limits.maxBufferedBytes * 0.75,
    publish: (frame, event) => publish(sessionKey, frame, event),
  });
}
