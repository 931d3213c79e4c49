/** An answer that was streaming when its process ended. */
import { BowlineError } from "../errors.ts";
import { failureOf } from "./event.ts";
import type { AssistantMessage } from "./message.ts";

/** Returns the fields that mark such an answer. */
export function endedProcess(): ReturnType<typeof failureOf> {
  const message = "The answer was cut: its process ended.";
  const error = new BowlineError("stream_truncated", message, { retryable: true });
  return { ...failureOf(error), stopReason: "aborted" };
}

/**
 * Returns whether the end of the process cut the answer. The run that it belongs to goes on with
 * another answer.
 */
export function isCutByEnd({ stopReason, error }: AssistantMessage): boolean {
  return stopReason === "aborted" && error?.code === "stream_truncated";
}
