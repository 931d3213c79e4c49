/** What one run is made of: the parts that the turn, the tools and the loop share. */
import { randomId, systemClock, type Clock } from "../clock.ts";
import { BowlineError, toErrorInfo } from "../errors.ts";
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
export class Run {
  readonly id: string;
  readonly context: AgentContext;
  readonly effects: Effects;
  readonly streamFn: StreamFn;
  readonly clock: Clock;
  readonly emitter: Emitter;
  readonly signal: AbortSignal;
  readonly newMessages: AgentMessage[] = [];
  readonly tools: { toolCallId: string; toolName: string; outcome: ToolOutcome }[] = [];
  config: AgentLoopConfig;
  usage: Usage = {};
  turns = 0;
  readonly #configure: () => AgentLoopConfig;
  readonly #caller: AbortSignal | undefined;
  readonly #controller = new AbortController();
  readonly #stopTimer: () => void;
  #failure: BowlineError | undefined;

  constructor({ context, config: configure, effects, streamFn, signal }: RunInput) {
    const config = configure();
    this.context = context;
    this.config = config;
    this.#configure = configure;
    this.effects = effects;
    this.streamFn = streamFn;
    this.clock = config.clock ?? systemClock;
    this.id = (config.createId ?? randomId)();
    this.#caller = signal;
    this.signal = this.#controller.signal;
    if (signal?.aborted === true) this.#controller.abort();
    signal?.addEventListener("abort", this.#abort, { once: true });
    const { maxTimeMs } = config.budget ?? {};
    const outOfTime = (): void => this.fail(exceeded(`${maxTimeMs} ms`));
    this.#stopTimer = maxTimeMs === undefined ? () => {} : this.clock.setTimer(maxTimeMs, outOfTime);
    this.emitter = createEmitter({
      runId: this.id,
      parentRunId: config.parentRunId,
      publish: (event) => effects.publish(event),
      clock: this.clock,
      timeoutMs: config.hookTimeoutMs ?? DEFAULT_HOOK_TIMEOUT_MS,
      onFailure: (error) => this.fail(error),
    });
  }

  /** Begins a turn with the configuration as it is now. */
  configure(): void {
    this.config = this.#configure();
  }

  /** Stops the run at its next safe point, as an error of this kind. */
  fail(error: BowlineError): void {
    this.#failure ??= error;
    this.#controller.abort();
  }

  readonly #abort = (): void => this.#controller.abort();

  /** Why the run has to stop now, if it has to: a failed listener or queue, the time budget, or the caller's abort. */
  get stop(): BowlineError | undefined {
    if (this.#failure !== undefined) return this.#failure;
    return this.signal.aborted ? abortedRun() : undefined;
  }

  /** The budget that is used up, checked before each model call. */
  get exhausted(): BowlineError | undefined {
    const { maxTurns, maxTokens, maxCost } = this.config.budget ?? {};
    const { totalTokens, cost } = this.usage;
    if (maxTurns !== undefined && this.turns >= maxTurns) return exceeded(`${maxTurns} turns`);
    if (maxTokens !== undefined && totalTokens !== undefined && totalTokens >= maxTokens)
      return exceeded(`${maxTokens} tokens`);
    if (maxCost !== undefined && cost !== undefined && cost.total >= maxCost) return exceeded(`$${maxCost}`);
    return undefined;
  }

  /** How long an abort waits for what ignores its signal. */
  get abortGraceMs(): number {
    return this.config.abortGraceMs ?? DEFAULT_ABORT_GRACE_MS;
  }

  append(message: AgentMessage): void {
    this.context.messages.push(message);
    this.newMessages.push(message);
  }

  /** Adds a message that came whole, with its two events. */
  async add(message: AgentMessage): Promise<void> {
    await this.emitter.emit({ type: "message_start", message });
    this.append(message);
    await this.emitter.emit({ type: "message_end", message });
  }

  /** Releases what the run held. */
  end(): void {
    this.#stopTimer();
    this.#caller?.removeEventListener("abort", this.#abort);
  }

  /** An assistant message that says only what went wrong, for a model call that never began. */
  failureMessage(error: BowlineError): AssistantMessage {
    const { model } = this.config;
    return {
      role: "assistant",
      content: [],
      api: model.api,
      provider: model.provider,
      model: model.id,
      usage: {},
      stopReason: error.code === "aborted" ? "aborted" : "error",
      errorMessage: error.message,
      error: toErrorInfo(error),
      timestamp: this.clock.now(),
    };
  }
}

export function abortedRun(): BowlineError {
  return new BowlineError("aborted", "The run was aborted.");
}

function exceeded(what: string): BowlineError {
  return new BowlineError("budget_exceeded", `The run used its budget of ${what}.`);
}
