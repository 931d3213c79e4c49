/**
 * Invariants 3, 4 and 7 of one answer: the stored message equals what the stream emitted, and its
 * error is that of the stream.
 */
import { isBowlineError, toErrorInfo, type ErrorInfo } from "../../src/errors.ts";
import type { AssistantMessage } from "../../src/llm/message.ts";
import { fold, messageOf, type CallFacts, type RunRecord } from "./facts.ts";
import type { Report } from "./report.ts";

/** `isStopped`: something other than the stream has stopped the run. */
export function checkAnswer(
  { message, json }: { readonly message: AssistantMessage; readonly json: string },
  call: CallFacts | undefined,
  run: RunRecord,
  isStopped: boolean,
  report: Report,
): void {
  const hasFailed = message.stopReason === "error" || message.stopReason === "aborted";
  if (hasFailed !== (message.error !== undefined) && call?.ended !== "error") {
    report(
      "4 error",
      `an answer that ended ${message.stopReason} has error ${JSON.stringify(message.error)}`,
    );
  }
  if (call === undefined) {
    if (!hasFailed || message.content.length > 0)
      report("7 replay", "an answer came without a model call");
    return;
  }
  const own = call.said ?? (isBowlineError(call.failure) ? call.failure : undefined);
  if (message.error?.code === "aborted" && run.abort === undefined && own === undefined) {
    report("4 error", "an answer says that it was aborted, and nobody aborted it");
  }
  const said = JSON.stringify(messageOf(call));
  checkUpdates(message, call, run, report);
  if (call.ended !== undefined && said === json) {
    const { said: source } = call;
    if (source === undefined || JSON.stringify(message.error) === JSON.stringify(source)) return;
    return report(
      "4 error",
      `stored ${JSON.stringify(message.error)}, the failure was ${JSON.stringify(source)}`,
    );
  }
  if (!hasFailed) return report("7 replay", `stored ${json}, streamed ${said}`);
  const isAborted = run.abort?.isStreamOver === false;
  const expected = failureOf(call, isStopped || run.abort !== undefined);
  if (expected !== undefined && JSON.stringify(message.error) !== JSON.stringify(expected)) {
    report(
      "4 error",
      `stored ${JSON.stringify(message.error)}, the failure was ${JSON.stringify(expected)}`,
    );
  }
  if (isAborted && !isStopped && call.ended === undefined && message.stopReason !== "aborted") {
    report(
      "3 partial answer",
      `an aborted answer is marked ${message.stopReason}: ${JSON.stringify(message.error)}`,
    );
  }
}

/** Checks that the stored message is what the emitted events add up to. */
function checkUpdates(
  message: AssistantMessage,
  call: CallFacts,
  run: RunRecord,
  report: Report,
): void {
  const { updates } = run;
  const isAll =
    updates.length === call.updates.length &&
    updates.every((json, index) => json === call.updates[index]);
  if (isAll && call.ended !== undefined) return; // the whole stream is compared elsewhere
  const [first = ""] = call.delivered.filter((json) => json.includes('"type":"start"'));
  if (first === "") return; // only an end, without updates
  const { content } = fold([first, ...updates]) ?? {};
  const [seen, stored] = [JSON.stringify(content), JSON.stringify(message.content)];
  if (seen !== stored) report("7 replay", `events add up to ${seen}, stored is ${stored}`);
}

/**
 * The error that a stream without an end must be recorded with; undefined if the run's own end
 * gives it.
 */
function failureOf(
  { ended, failure, delivered }: CallFacts,
  isStopped: boolean,
): ErrorInfo | undefined {
  if (isStopped) return undefined;
  if (isBowlineError(failure)) return toErrorInfo(failure);
  if (failure instanceof TypeError) return undefined; // the engine's own error text
  if (failure instanceof Error) {
    const message = `The stream function failed: ${failure.message}`;
    return { code: "stream_function_failed", message, retryable: false };
  }
  const message = "The stream ended before the answer was complete.";
  if (ended === undefined) return { code: "stream_truncated", message, retryable: true };
  const isCorrupt =
    ended === "done" && delivered.some((json) => json.includes('"reason":"toolUse"'));
  if (!isCorrupt)
    return { code: "internal_error", message: "the answer was complete", retryable: false };
  return {
    code: "stream_corrupt",
    message: "The model's answer ended with stop reason toolUse, but it calls no tool.",
    retryable: false,
  };
}
