/** Endings for stream functions that wrap another stream function. */
import { toBowlineError } from "../errors.ts";
import {
  emptyMessage,
  failureOf,
  messageOf,
  originOf,
  type DoneEvent,
  type ErrorEvent,
} from "./event.ts";
import { withDiscarded } from "./message.ts";
import type { Usage } from "./usage.ts";

/** Adds the usage of discarded tries to the last event's message. */
export function withDiscardedEnd(end: DoneEvent | ErrorEvent, lost: Usage): DoneEvent | ErrorEvent {
  const message = withDiscarded(messageOf(end), lost);
  if (message === messageOf(end)) return end;
  return end.type === "done" ? { ...end, message } : { ...end, error: message };
}

/**
 * Returns the error event for a stream function that threw, or whose stream broke its contract,
 * before any output.
 */
export function brokenCall(
  thrown: unknown,
  model: Parameters<typeof originOf>[0],
  timestamp: number,
): ErrorEvent {
  const failure = failureOf(toBowlineError(thrown, "stream_function_failed"));
  const error = { ...emptyMessage(originOf(model, timestamp)), ...failure };
  return { type: "error", attempt: 1, reason: failure.stopReason, error };
}
