/**
 * The loop without an agent: a run over a context, its events as a stream or to a sink. Everything
 * it touches is passed in.
 */
import { BowlineError } from "../errors.ts";
import type { StreamFn } from "../llm/model.ts";
import { EventStream } from "../llm/stream.ts";
import type { AgentMessage } from "./contract/agent-message.ts";
import { createMemoryEffects, type Effects } from "./contract/effects.ts";
import type { AgentEvent, AgentEventSink } from "./contract/event.ts";
import type { AgentContext, AgentLoopConfig } from "./contract/hooks.ts";
import { assertContinuable } from "./run/continuable.ts";
import { runLoop } from "./run/run-loop.ts";

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
