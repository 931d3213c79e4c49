/** How the stream of a stream function ends that is around another one. */
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

/** The end, with what discarded tries before it were billed. */
export function withDiscardedEnd(end: DoneEvent | ErrorEvent, lost: Usage): DoneEvent | ErrorEvent {
  const message = withDiscarded(messageOf(end), lost);
  if (message === messageOf(end)) return end;
  return end.type === "done" ? { ...end, message } : { ...end, error: message };
}

/**
 * How a model call ends whose stream function threw, or whose stream broke its contract, before it
 * said anything.
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
