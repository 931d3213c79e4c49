/**
 * The turns of a run: model call, tools, queues, and again, until there is nothing to do.
 */
import { BowlineError } from "../../errors.ts";
import type { AssistantMessage, ToolResultMessage } from "../../llm/message.ts";
import type { AgentMessage } from "../contract/agent-message.ts";
import { isAnswer } from "./continuable.ts";
import { executeToolCalls, openCalls } from "./execute.ts";
import { callModel } from "./model-call.ts";
import type { Run } from "./run.ts";
import { take } from "./take.ts";

/** Answers in a row in which the provider paused its own work, before the run gives up. */
const MAX_PAUSES = 10;
/**
 * Answers that a token limit cut in the middle of a tool call, in a row, before the run gives up.
 */
const MAX_TRUNCATED_CALLS = 3;

/** Why a run ends: an error, or what is none. */
export type EndCause = BowlineError | "done" | "length";

/** How many answers in a row were of a kind. */
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
    // Messages steered while idle go out with the first request, behind the results of calls that
    // are open; a queue that fails ends the run by the usual way.
    if (pending === prompts && !answer && !run.stop) {
      const steered = await take(run, "steering").catch((error) => void run.fail(error));
      for (const message of steered ?? []) await run.add(message);
    }

    const message = answer ?? (await callModel(run));
    run.spending.settle(); // nothing, of an answer that was there
    answer = undefined;
    // The calls of a complete answer are run; those of a failed one are answered, so that history
    // stays valid.
    const why = isAnswer(message) ? undefined : notCompleted(message);
    const { toolResults, terminate } = await executeToolCalls(run, message, why);
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

/** What the calls of a failed answer are answered with. */
function notCompleted({ stopReason, errorMessage }: AssistantMessage): string {
  const why = stopReason === "error" && errorMessage ? ` ${errorMessage}` : "";
  return `Not run: the answer was not completed.${why}`;
}

/**
 * The last answer of a run that goes on, unless something came behind its turn: that turn goes on.
 */
function answerInHand({ turns: count, context: { messages } }: Run): {
  readonly answer: AssistantMessage | undefined;
  /** It has calls without a result. */
  readonly isOpen: boolean;
} {
  const answer =
    count > 0 ? messages.findLast((message) => message.role === "assistant") : undefined;
  const isOpen = answer !== undefined && openCalls(answer, messages).length > 0;
  const last = messages.at(-1);
  const isPassed = !isOpen && last !== answer && last?.role !== "toolResult";
  return { answer: isPassed ? undefined : answer, isOpen };
}

/** Why no turn follows one that ended well, whatever is queued; undefined when one may. */
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
  if (
    shouldStopAfterTurn &&
    (await run.hook("shouldStopAfterTurn", () => shouldStopAfterTurn(state, run.signal)))
  )
    return "done";
  return run.stop;
}

/** What the next turn begins with, once it has its budget and its configuration. */
async function nextMessages(
  run: Run,
  isUnfinished: boolean,
): Promise<{ readonly messages: readonly AgentMessage[] } | { readonly cause: EndCause }> {
  // Before the queues are read, so that what is queued is kept.
  const error = run.spending.reserve();
  if (error) return { cause: isUnfinished ? error : "done" };
  let messages = await take(run, "steering");
  if (messages.length === 0 && !isUnfinished) {
    messages = await take(run, "followUp");
    if (messages.length === 0) return { cause: "done" };
  }
  const stop = run.stop ?? run.configure();
  if (!stop) return { messages };
  // What was taken is not lost: it is in the transcript.
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
