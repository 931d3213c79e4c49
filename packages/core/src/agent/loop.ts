/**
 * The loop. Model call, tools, queues, and again, until there is nothing to do; everything it
 * touches is passed in. Whatever a hook, a tool, a listener or a stream function throws, a run ends
 * with exactly one `agent_end`.
 */
import { BowlineError, toErrorInfo, type ErrorCode } from "../errors.ts";
import { defined } from "../json-value.ts";
import { messageText, type AssistantMessage } from "../llm/message.ts";
import type { StreamFn } from "../llm/model.ts";
import { EventStream } from "../llm/stream.ts";
import type { AgentMessage } from "./contract/agent-message.ts";
import { createMemoryEffects, type Effects, type InboxKind } from "./contract/effects.ts";
import type { AgentEvent, AgentEventSink, RunEndReason } from "./contract/event.ts";
import type { AgentContext, AgentLoopConfig } from "./contract/hooks.ts";
import { executeToolCalls, openCalls } from "./run/execute.ts";
import { callModel } from "./run/model-call.ts";
import { Run, type RunInput } from "./run/run.ts";
import type { RunResult } from "./run/run-result.ts";

/** Answers in a row in which the provider paused its own work, before the run gives up. */
const MAX_PAUSES = 10;
/**
 * Answers that a token limit cut in the middle of a tool call, in a row, before the run gives up.
 */
const MAX_TRUNCATED_CALLS = 3;

/**
 * Runs from new messages. The stream is observational: it keeps the order and waits for nobody;
 * breaking out of it aborts the run. `context.messages` is copied. Throws `invalid_argument`
 * without a stream function.
 */
export function agentLoop(
  prompts: AgentMessage[],
  context: AgentContext,
  config: AgentLoopConfig,
  signal?: AbortSignal,
  streamFn?: StreamFn,
): EventStream<AgentEvent, AgentMessage[]> {
  const copy = { ...context, messages: [...context.messages] };
  return startLoop(prompts, copy, config, signal, streamFn);
}

/**
 * Goes on from a context whose last message is no whole answer; new messages are pushed onto
 * `context.messages`. Throws `invalid_state` for one that is, and for no messages.
 */
export function agentLoopContinue(
  context: AgentContext,
  config: AgentLoopConfig,
  signal?: AbortSignal,
  streamFn?: StreamFn,
): EventStream<AgentEvent, AgentMessage[]> {
  assertContinuable(context.messages);
  return startLoop([], context, config, signal, streamFn);
}

/** Throws `invalid_state` unless a run can go on from these messages. */
export function assertContinuable(messages: readonly AgentMessage[]): void {
  const last = messages.at(-1);
  if (last && !isAnswer(last)) return;
  throw new BowlineError(
    "invalid_state",
    `Cannot continue from ${last ? "an assistant message" : "no messages"}.`,
  );
}

/**
 * Whether it is an answer: one that failed or was aborted is none, and the model is asked again.
 */
export function isAnswer(message: AgentMessage): boolean {
  return (
    message.role === "assistant" &&
    message.stopReason !== "error" &&
    message.stopReason !== "aborted"
  );
}

/**
 * {@link agentLoop} with a sink in place of a stream: the run waits for what it returns, as for a
 * listener of an agent. Resolves with the new messages, also when the run failed.
 */
export async function runAgentLoop(
  prompts: AgentMessage[],
  context: AgentContext,
  config: AgentLoopConfig,
  emit: AgentEventSink,
  signal?: AbortSignal,
  streamFn?: StreamFn,
): Promise<AgentMessage[]> {
  const copy = { ...context, messages: [...context.messages] };
  return messagesOf(
    prompts,
    copy,
    config,
    (event, hear) => hear(emit, event),
    signal,
    required(streamFn),
  );
}

/** {@link agentLoopContinue} with such a sink. */
export async function runAgentLoopContinue(
  context: AgentContext,
  config: AgentLoopConfig,
  emit: AgentEventSink,
  signal?: AbortSignal,
  streamFn?: StreamFn,
): Promise<AgentMessage[]> {
  assertContinuable(context.messages);
  return messagesOf(
    [],
    context,
    config,
    (event, hear) => hear(emit, event),
    signal,
    required(streamFn),
  );
}

function required(streamFn: StreamFn | undefined): StreamFn {
  if (streamFn) return streamFn;
  throw new BowlineError(
    "invalid_argument",
    "A stream function is needed: pass one, or import from the package's main entry, which has a default.",
  );
}

function startLoop(
  prompts: AgentMessage[],
  context: AgentContext,
  config: AgentLoopConfig,
  signal: AbortSignal | undefined,
  streamFn: StreamFn | undefined,
): EventStream<AgentEvent, AgentMessage[]> {
  const asked = required(streamFn); // thrown to the caller, where a stream would only reject
  return new EventStream(
    (push, either) => messagesOf(prompts, context, config, (event) => push([event]), either, asked),
    signal,
  );
}

/** One run of the low-level loop: its events to `publish`, its new messages back. */
async function messagesOf(
  prompts: AgentMessage[],
  context: AgentContext,
  config: AgentLoopConfig,
  publish: Effects["publish"],
  signal: AbortSignal | undefined,
  streamFn: StreamFn,
): Promise<AgentMessage[]> {
  const effects = createMemoryEffects({ publish, ...queuesOf(config) });
  return (await runLoop(prompts, { context, config: () => config, effects, streamFn, signal }))
    .messages;
}

/**
 * The configuration's own queues. What one throws that is only asked about is said when it is read:
 * calls are open until then.
 */
function queuesOf(config: AgentLoopConfig): Partial<Effects> {
  const { hasSteeringMessages } = config;
  let thrown: { readonly error: unknown } | undefined;
  const hasQueued = (): boolean => {
    try {
      return hasSteeringMessages?.() === true;
    } catch (error) {
      thrown = { error };
      return false;
    }
  };
  return {
    async inbox(kind) {
      if (thrown) throw thrown.error;
      return (
        (await (kind === "steering"
          ? config.getSteeringMessages?.()
          : config.getFollowUpMessages?.())) ?? []
      );
    },
    hasQueued,
    giveBack: (kind, messages) => config.returnMessages?.(messages, kind),
  };
}

/** One run over any effects. Never rejects. */
export async function runLoop(
  prompts: readonly AgentMessage[],
  input: RunInput,
): Promise<RunResult> {
  const run = new Run(input);
  const { emitter, newMessages: messages } = run;
  await emitter.emit({ type: "agent_start", ...(input.resume && { resumed: true }) });
  const cause = await turns(run, prompts).catch((error) => run.stop ?? run.fail(error));
  const { reason, error } = endOf(run, cause);
  run.isEnding = true;
  await emitter.emit({
    type: "agent_end",
    messages,
    reason,
    usage: run.spending.usage,
    ...(error && { error: toErrorInfo(error) }),
  });
  run.end();
  const end = endOf(run, cause); // again, for a listener of agent_end itself
  const { id: runId, spending, turns: count, tools } = run;
  return {
    runId,
    messages,
    usage: spending.usage,
    turns: count,
    tools,
    ...end,
    ...defined({ message: bestAnswer(messages, end.reason) }),
  };
}

/** Why a run ends: an error, or what is none. */
type EndCause = BowlineError | "done" | "length";

function endOf({ emitter }: Run, cause: EndCause): Pick<RunResult, "reason" | "error"> {
  const error = emitter.failure ?? cause;
  if (typeof error === "string") return { reason: error };
  return { reason: (!emitter.failure && reasons[error.code]) || "error", error };
}

const reasons: Partial<Record<ErrorCode, RunEndReason>> = {
  aborted: "aborted",
  budget_exceeded: "budget",
};

async function turns(run: Run, prompts: readonly AgentMessage[]): Promise<EndCause> {
  const { context, emitter } = run;
  const { messages } = context;
  // The last answer of a run that goes on, unless something came behind its turn: that turn goes
  // on.
  let answer =
    run.turns > 0 ? messages.findLast((message) => message.role === "assistant") : undefined;
  const isOpen = answer && openCalls(answer, messages).length > 0;
  const last = messages.at(-1);
  if (!isOpen && last !== answer && last?.role !== "toolResult") answer = undefined;
  const refusal = emitter.failure ?? run.configure() ?? run.spending.reserve();
  if (refusal && (isOpen || !answer)) {
    if (answer) await executeToolCalls(run, answer, `Not run: ${refusal.message}`);
    return refusal;
  }
  let pending = prompts;
  let truncated = 0;
  let pauses = 0;
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
    const why = isAnswer(message) ? undefined : "Not run: the answer was not completed.";
    const { toolResults, terminate } = await executeToolCalls(run, message, why);
    await emitter.emit({ type: "turn_end", message, toolResults });

    if (why) return run.stop ?? errorOf(message);
    if (run.stop) return run.stop;
    truncated = message.stopReason === "length" ? truncated + 1 : 0;
    if (truncated > 0 && (toolResults.length === 0 || truncated >= MAX_TRUNCATED_CALLS))
      return "length";
    pauses = message.paused ? pauses + 1 : 0;
    if (pauses > MAX_PAUSES) return "length";
    const { newMessages } = run;
    const { shouldStopAfterTurn } = run.config;
    const state = { message, toolResults, context, newMessages };
    if (
      shouldStopAfterTurn &&
      (await run.hook("shouldStopAfterTurn", () => shouldStopAfterTurn(state)))
    )
      return "done";
    if (run.stop) return run.stop;

    const unfinished = (toolResults.length > 0 && !terminate) || pauses > 0;
    // Before the queues are read, so that what is queued is kept.
    const error = run.spending.reserve();
    if (error) return unfinished ? error : "done";
    pending = await take(run, "steering");
    if (pending.length === 0 && !unfinished) {
      pending = await take(run, "followUp");
      if (pending.length === 0) return "done";
    }
    const stop = run.stop ?? run.configure();
    if (stop) {
      // What was taken is not lost: it is in the transcript.
      for (const taken of pending) await run.add(taken);
      return stop;
    }
  }
}

function errorOf(message: AssistantMessage): BowlineError {
  const { error, errorMessage = "The model call failed.", stopReason } = message;
  if (error) return new BowlineError(error.code, error.message, error);
  return new BowlineError(
    stopReason === "aborted" ? "aborted" : "stream_function_failed",
    errorMessage,
  );
}

/** A queue that answers when it is no longer waited for gets its messages back. */
async function take(run: Run, kind: InboxKind): Promise<readonly AgentMessage[]> {
  const { effects } = run;
  let asked: ReturnType<typeof effects.inbox> | undefined;
  try {
    return await run.hook(`Reading the ${kind} queue`, () => (asked = effects.inbox(kind)));
  } catch (error) {
    if (asked && (error as BowlineError).code === "aborted")
      run.fail(
        new BowlineError("aborted", `The run was aborted before the ${kind} queue had answered.`),
      );
    Promise.resolve(asked)
      .then((late) => late?.length && effects.giveBack?.(kind, late))
      .catch(() => {});
    throw error;
  }
}

/** What a run that was cut short had said is better than the calls it still wanted to make. */
export function bestAnswer(
  messages: readonly AgentMessage[],
  reason: RunEndReason,
): AssistantMessage | undefined {
  const answers = messages.filter((message) => message.role === "assistant");
  const said = reason === "done" ? undefined : answers.findLast((answer) => messageText(answer));
  return said ?? answers.findLast(({ content }) => content.length > 0) ?? answers.at(-1);
}
