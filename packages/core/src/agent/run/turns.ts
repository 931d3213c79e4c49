/** The turns of a run: model call, tools, queues, repeated until nothing is left to do. */
import { BowlineError } from "../../errors.ts";
import { isCutByEnd } from "../../llm/cut-by-end.ts";
import type { AssistantMessage, ToolResultMessage } from "../../llm/message.ts";
import type { AgentMessage } from "../contract/agent-message.ts";
import { isAnswer } from "./continuable.ts";
import { executeToolCalls, openCalls } from "./execute.ts";
import { callModel } from "./model-call.ts";
import type { Run } from "./run.ts";
import { take } from "./take.ts";

/** Maximum number of consecutive answers in which the provider paused its own work. */
const MAX_PAUSES = 10;
/** Maximum number of consecutive answers that a token limit cut in the middle of a tool call. */
const MAX_TRUNCATED_CALLS = 3;

/** Why a run ends. */
export type EndCause = BowlineError | "done" | "length";

/** Numbers of consecutive answers of a kind. */
interface Streaks {
  truncated: number;
  pauses: number;
}

export async function turns(run: Run, prompts: readonly AgentMessage[]): Promise<EndCause> {
  const { emitter } = run;
  let { answer, isOpen } = answerInHand(run);
  const refusal = emitter.failure ?? run.configure() ?? run.spending.reserve();
  if (refusal && (isOpen || !answer)) {
    if (answer) await executeToolCalls(run, answer, `Not run: ${refusal.message}`);
    return refusal;
  }
  const streaks: Streaks = { truncated: 0, pauses: 0 };
  let pending = prompts;
  for (;;) {
    await emitter.emit({ type: "turn_start" });
    for (const message of pending) await run.add(message);
    // Send messages that were steered while idle with the first request, after the results of
    // pending calls. A failing queue ends the run in the usual way.
    if (pending === prompts && !answer && !run.stop) {
      const steered = await take(run, "steering").catch((error) => void run.fail(error));
      for (const message of steered ?? []) await run.add(message);
    }

    const { message, plan } = answer ? { message: answer } : await callModel(run);
    run.spending.settle(); // no effect for an answer that existed before
    answer = undefined;
    // Run the calls of a complete answer. Give those of a failed answer error results, so that the
    // transcript stays valid.
    const why = isAnswer(message) ? undefined : notCompleted(message);
    const { toolResults, terminate } = await executeToolCalls(run, message, why, plan);
    await emitter.emit({ type: "turn_end", message, toolResults });

    if (why) return run.stop ?? errorOf(message);
    const cause = await causeToStop(run, message, toolResults, streaks);
    if (cause) return cause;
    const isUnfinished = (toolResults.length > 0 && !terminate) || streaks.pauses > 0;
    const next = await nextMessages(run, isUnfinished);
    if ("cause" in next) return next.cause;
    pending = next.messages;
  }
}

/** Returns the error result for the calls of a failed answer. */
function notCompleted({ stopReason, errorMessage }: AssistantMessage): string {
  const why = stopReason === "error" && errorMessage ? ` ${errorMessage}` : "";
  return `Not run: the answer was not completed.${why}`;
}

/**
 * Returns the last answer of a resumed run if its turn is not finished. The turn then continues.
 */
function answerInHand({ turns: count, context: { messages } }: Run): {
  readonly answer: AssistantMessage | undefined;
  /** Whether the answer has calls without a result. */
  readonly isOpen: boolean;
} {
  const answer =
    count > 0 ? messages.findLast((message) => message.role === "assistant") : undefined;
  const isOpen = answer !== undefined && openCalls(answer, messages).length > 0;
  const last = messages.at(-1);
  const isPassed =
    !isOpen &&
    (last === answer ? answer !== undefined && isCutByEnd(answer) : last?.role !== "toolResult");
  return { answer: isPassed ? undefined : answer, isOpen };
}

/**
 * Returns why the run ends after a successful turn, regardless of queued messages. Undefined if it
 * may continue.
 */
async function causeToStop(
  run: Run,
  message: AssistantMessage,
  toolResults: ToolResultMessage[],
  streaks: Streaks,
): Promise<EndCause | undefined> {
  if (run.stop) return run.stop;
  streaks.truncated = message.stopReason === "length" ? streaks.truncated + 1 : 0;
  const { truncated } = streaks;
  if (truncated > 0 && (toolResults.length === 0 || truncated >= MAX_TRUNCATED_CALLS))
    return "length";
  streaks.pauses = message.paused ? streaks.pauses + 1 : 0;
  if (streaks.pauses > MAX_PAUSES) return "length";
  const { context, newMessages } = run;
  const { shouldStopAfterTurn } = run.config;
  const state = { message, toolResults, context, newMessages };
  if (shouldStopAfterTurn) {
    const ask = (): Promise<boolean> =>
      run.hook("shouldStopAfterTurn", () => shouldStopAfterTurn(state, run.signal));
    if (await run.decide(`stop:${run.turns}`, ask)) return "done";
  }
  return run.stop;
}

/**
 * Returns the messages that the next turn begins with, or why there is no next turn. Checks the
 * budget and the configuration first.
 */
async function nextMessages(
  run: Run,
  isUnfinished: boolean,
): Promise<{ readonly messages: readonly AgentMessage[] } | { readonly cause: EndCause }> {
  // Reserve before reading the queues, so that queued messages are not lost.
  const error = run.spending.reserve();
  if (error) return { cause: isUnfinished ? error : "done" };
  let messages = await take(run, "steering");
  if (messages.length === 0 && !isUnfinished) {
    messages = await take(run, "followUp");
    if (messages.length === 0) return { cause: "done" };
  }
  const stop = run.stop ?? run.configure();
  if (!stop) return { messages };
  // Add messages already taken to the transcript, so that they are not lost.
  for (const taken of messages) await run.add(taken);
  return { cause: stop };
}

function errorOf(message: AssistantMessage): BowlineError {
  const { error, errorMessage = "The model call failed.", stopReason } = message;
  if (error) return new BowlineError(error.code, error.message, error);
  return new BowlineError(
    stopReason === "aborted" ? "aborted" : "stream_function_failed",
    errorMessage,
  );
}
