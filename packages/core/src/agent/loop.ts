/**
 * The loop without an agent: runs over a context and gives its events as a stream or to a sink. All
 * dependencies are passed in.
 */
import { systemClock } from "../clock.ts";
import { BowlineError } from "../errors.ts";
import type { StreamFn } from "../llm/model.ts";
import { EventStream } from "../llm/stream.ts";
import type { AgentMessage } from "./contract/agent-message.ts";
import type { Effects } from "./contract/effects.ts";
import { createMemoryEffects } from "./contract/memory-effects.ts";
import type { AgentEvent, AgentEventSink } from "./contract/event.ts";
import type { AgentContext, AgentLoopConfig } from "./contract/hooks.ts";
import { assertContinuable } from "./run/continuable.ts";
import { runLoop } from "./run/run-loop.ts";

/**
 * Runs from new messages and returns the events as a stream. The run does not wait for readers of
 * the stream. Breaking out of the stream aborts the run. `context.messages` is copied. Throws
 * `invalid_argument` without a stream function.
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
 * Continues from a context and appends new messages to `context.messages`. Throws `invalid_state`
 * when the context has no messages or its last message is a complete answer.
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

/**
 * {@link agentLoop} with a sink instead of a stream. The run awaits the sink, as it awaits a
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

/** {@link agentLoopContinue} with a sink instead of a stream. */
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
    "The stream function is missing. Pass one, or import from the main entry, which has a default.",
  );
}

function startLoop(
  prompts: AgentMessage[],
  context: AgentContext,
  config: AgentLoopConfig,
  signal: AbortSignal | undefined,
  streamFn: StreamFn | undefined,
): EventStream<AgentEvent, AgentMessage[]> {
  const asked = required(streamFn); // throws here; the stream would only reject
  return new EventStream(
    (push, either) => messagesOf(prompts, context, config, (event) => push([event]), either, asked),
    signal,
  );
}

/** Runs the loop once with events to `publish`. Resolves with the new messages. */
async function messagesOf(
  prompts: AgentMessage[],
  context: AgentContext,
  config: AgentLoopConfig,
  publish: Effects["publish"],
  signal: AbortSignal | undefined,
  streamFn: StreamFn,
): Promise<AgentMessage[]> {
  const effects = createMemoryEffects(
    { publish, ...queuesOf(config) },
    () => config.clock ?? systemClock,
  );
  return (await runLoop(prompts, { context, config: () => config, effects, streamFn, signal }))
    .messages;
}

/**
 * Connects the queues of the configuration. An error of `hasSteeringMessages` is thrown at the next
 * read of a queue, because calls are still pending before that.
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
