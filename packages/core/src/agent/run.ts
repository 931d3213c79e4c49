/** What one run is made of: the parts that the turn, the tools and the loop share. */
import { randomId, systemClock, type Clock } from "../clock.ts";
import { BowlineError } from "../errors.ts";
import type { AssistantMessage } from "../llm/message.ts";
import type { StreamFn } from "../llm/model.ts";
import type { Usage } from "../llm/usage.ts";
import type { Effects } from "./effects.ts";
import { createEmitter, type Emitter } from "./emitter.ts";
import type { AgentMessage, RunEndReason, ToolOutcome } from "./event.ts";
import type { AgentContext, AgentLoopConfig } from "./hooks.ts";

/** What a run came to. */
export interface RunResult {
  readonly runId: string;
  readonly reason: RunEndReason;
  /** The best answer so far: the last assistant message with content. */
  readonly message?: AssistantMessage;
  /** Messages new in this run. */
  readonly messages: AgentMessage[];
  /** The sum over the run's model calls. */
  readonly usage: Usage;
  /** Model calls made. */
  readonly turns: number;
  /** Each tool call and what became of it, in order. */
  readonly tools: readonly { readonly toolCallId: string; readonly toolName: string; readonly outcome: ToolOutcome }[];
  readonly error?: BowlineError;
}

export interface RunInput {
  readonly context: AgentContext;
  /** Asked once a turn, so that a change of model or hooks takes effect with the next one. */
  readonly config: () => AgentLoopConfig;
  readonly effects: Effects;
  readonly streamFn: StreamFn;
  readonly signal?: AbortSignal | undefined;
}

const DEFAULT_HOOK_TIMEOUT_MS = 60_000;
const DEFAULT_ABORT_GRACE_MS = 1_000;

/** One run's state. `signal` fires on the caller's abort, on the time budget and when a listener has failed. */
export interface Run extends Omit<RunInput, "config" | "signal"> {
  readonly id: string;
  readonly clock: Clock;
  readonly emitter: Emitter;
  readonly signal: AbortSignal;
  readonly newMessages: AgentMessage[];
  readonly tools: { toolCallId: string; toolName: string; outcome: ToolOutcome }[];
  config: AgentLoopConfig;
  usage: Usage;
  turns: number;
  /** Begins a turn with the configuration as it is now. */
  configure(): void;
  /** Stops the run at its next safe point, as an error of this kind. */
  fail(error: BowlineError): void;
  /** Why the run has to stop now, if it has to: a failed listener or queue, the time budget, or the caller's abort. */
  readonly stop: BowlineError | undefined;
  append(message: AgentMessage): void;
  /** Adds a message that came whole, with its two events. */
  add(message: AgentMessage): Promise<void>;
  /** Releases what the run held. */
  end(): void;
}

export function createRun({ config: configure, signal: caller, ...input }: RunInput): Run {
  const config = configure();
  const { clock = systemClock, createId = randomId, hookTimeoutMs = DEFAULT_HOOK_TIMEOUT_MS, parentRunId } = config;
  const id = createId();
  const controller = new AbortController();
  const { signal } = controller;
  const abort = (): void => controller.abort();
  const release = onAbort(caller, abort);
  let failure: BowlineError | undefined;
  const fail = (error: BowlineError): void => {
    failure ??= error;
    abort();
  };
  const { maxTimeMs } = config.budget ?? {};
  const outOfTime = (): void => fail(exceeded(`${maxTimeMs} ms`));
  const stopTimer = maxTimeMs === undefined ? undefined : clock.setTimer(maxTimeMs, outOfTime);
  const run: Run = {
    ...input,
    id,
    clock,
    emitter: createEmitter({
      runId: id,
      parentRunId,
      effects: input.effects,
      clock,
      timeoutMs: hookTimeoutMs,
      onFailure: fail,
    }),
    signal,
    newMessages: [],
    tools: [],
    config,
    usage: {},
    turns: 0,
    configure: () => void (run.config = configure()),
    fail,
    get stop() {
      return failure ?? (signal.aborted ? abortedRun() : undefined);
    },
    append(message) {
      input.context.messages.push(message);
      run.newMessages.push(message);
    },
    async add(message) {
      await run.emitter.emit({ type: "message_start", message });
      run.append(message);
      await run.emitter.emit({ type: "message_end", message });
    },
    end() {
      stopTimer?.();
      release();
    },
  };
  return run;
}

/** The budget that is used up, checked before each model call. */
export function exhausted({ config, turns, usage }: Run): BowlineError | undefined {
  const { maxTurns = Infinity, maxTokens = Infinity, maxCost = Infinity } = config.budget ?? {};
  if (turns >= maxTurns) return exceeded(`${maxTurns} turns`);
  if ((usage.totalTokens ?? -1) >= maxTokens) return exceeded(`${maxTokens} tokens`);
  return (usage.cost?.total ?? -1) >= maxCost ? exceeded(`$${maxCost}`) : undefined;
}

/** How long an abort waits for what ignores its signal. */
export function graceOf({ config }: Run): number {
  return config.abortGraceMs ?? DEFAULT_ABORT_GRACE_MS;
}

/** Calls `listener` when the signal fires, at once if it has. Returns what ends that. */
export function onAbort(signal: AbortSignal | undefined, listener: () => void): () => void {
  if (signal?.aborted === true) listener();
  signal?.addEventListener("abort", listener, { once: true });
  return () => signal?.removeEventListener("abort", listener);
}

export function abortedRun(): BowlineError {
  return new BowlineError("aborted", "The run was aborted.");
}

function exceeded(what: string): BowlineError {
  return new BowlineError("budget_exceeded", `The run used its budget of ${what}.`);
}
