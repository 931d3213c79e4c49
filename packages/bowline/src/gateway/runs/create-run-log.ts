/** Creates the log of a run, which buffers events for resending and publishes new ones. */
import type { Frame } from "../log/outbox.ts";
import { RunLog, type RunEventName } from "../log/run-log.ts";
import type { GatewayLimits } from "../protocol/limits.ts";

export interface RunLogOptions {
  readonly runId: string;
  readonly sessionKey: string;
  readonly limits: Pick<GatewayLimits, "maxReplayEvents" | "maxReplayLength" | "maxBufferedBytes">;
  /** Default: events are only buffered. */
  readonly publish?: (frame: Frame, event: RunEventName) => void;
}

export function createRunLog({
  runId,
  sessionKey,
  limits,
  publish = () => {},
}: RunLogOptions): RunLog {
  const { maxReplayEvents: maxEvents, maxReplayLength: maxLength } = limits;
  return new RunLog({
    runId,
    sessionKey,
    maxEvents,
    maxLength,
    // Below the buffer limit of a client, so that the snapshot alone does not disconnect a client.
    maxSnapshot: limits.maxBufferedBytes * 0.75,
    publish,
  });
}
