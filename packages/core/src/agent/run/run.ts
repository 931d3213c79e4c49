/** The state of one run, shared by the turns, the tools and the loop. */
import { onAbort, randomId, systemClock, type Clock } from "../../clock.ts";
import { BowlineError, callHook, isBowlineError, toBowlineError } from "../../errors.ts";
import { defined, isRecord } from "../../json-value.ts";
import type { StreamFn } from "../../llm/model.ts";
import { abortedRun } from "../contract/aborted-run.ts";
import type { AgentMessage } from "../contract/agent-message.ts";
import type { Effects, WaitOptions } from "../contract/effects.ts";
import type { AgentContext, AgentLoopConfig } from "../contract/hooks.ts";
import type { RunPort } from "../contract/run-port.ts";
import type { StepAbout, StepResult } from "../contract/step.ts";
import type { AgentTool } from "../contract/tool.ts";
import type { ToolOutcome } from "../contract/tool-result.ts";
import { AbortGrace } from "./abort-grace.ts";
import { decided } from "./decided.ts";
import { Emitter } from "./emitter.ts";
import { portTo } from "./port-to.ts";
import type { InterruptedRun } from "./run-result.ts";
import { Spending } from "./spending.ts";
import { fromKept, StepChanges } from "./step-changes.ts";
import { whileLive } from "./while-live.ts";

export interface RunInput {
  readonly context: AgentContext;
  /** Called once per turn, so that a change of model or hooks takes effect with the next turn. */
  readonly config: () => AgentLoopConfig;
  readonly effects: Effects;
  readonly streamFn: StreamFn;
  readonly signal?: AbortSignal | undefined;
  /** Maximum number of model calls when no budget has `maxTurns`. Default: no limit. */
  readonly turnLimit?: number;
  /** The run to continue, instead of starting a new one. */
  readonly resume?: InterruptedRun | undefined;
}

export const DEFAULT_HOOK_TIMEOUT_MS = 60_000;
const DEFAULT_ABORT_GRACE_MS = 1_000;

/**
 * The state of one run. `signal` fires on the caller's abort, at the end of the time budget, and
 * when a listener fails.
 */
export class Run {
  readonly id: string;
  readonly context: AgentContext;
  readonly clock: Clock;
  readonly effects: Effects;
  readonly streamFn: StreamFn;
  readonly emitter: Emitter;
  readonly grace: AbortGrace;
  readonly spending: Spending;
  /** The interface of the run for hooks that run between steps. */
  readonly port: RunPort;
  /** State that hooks keep. */
  readonly memory: Map<string, unknown> = new Map();
  readonly approvedTools: Set<string>;
  readonly newMessages: AgentMessage[] = [];
  readonly tools: { toolCallId: string; toolName: string; outcome: ToolOutcome }[] = [];
  config: AgentLoopConfig;
  /**
   * The tools of the last request. The calls of its answer use these, even if tools were reassigned
   * since.
   */
  declared?: readonly AgentTool[];
  turns: number;
  /** Whether an earlier process began the run. */
  readonly isResumed: boolean;
  /** Whether the last event is being emitted. */
  isEnding = false;
  readonly #configure: () => AgentLoopConfig;
  readonly #hookTimeoutMs: number;
  readonly #release: () => void;
  /** Fires when the run has ended. */
  readonly #done = new AbortController();
  #failure: BowlineError | undefined;
  #aborted: BowlineError | undefined;

  constructor(input: RunInput) {
    const { config: configure, signal: caller, context, effects, streamFn, resume } = input;
    const config = configure();
    const {
      clock = systemClock,
      createId = randomId,
      hookTimeoutMs = DEFAULT_HOOK_TIMEOUT_MS,
      parentRunId,
      parentToolCallId,
      parentToolName,
      budget,
    } = config;
    const { runId = createId(), seq = 0, turns = 0 } = resume ?? {};
    this.id = runId;
    this.context = context;
    this.clock = clock;
    this.streamFn = streamFn;
    this.effects = effects;
    this.approvedTools = effects.approvedTools ?? new Set();
    this.config = config;
    this.turns = turns;
    this.isResumed = resume !== undefined;
    this.#configure = configure;
    this.#hookTimeoutMs = hookTimeoutMs;
    const onFailure = (error: BowlineError): void => void this.fail(error);
    const graceMs = (): number => this.config.abortGraceMs ?? DEFAULT_ABORT_GRACE_MS;
    const grace = (this.grace = new AbortGrace(clock, graceMs));
    this.emitter = new Emitter({
      runId,
      parent:
        parentRunId === undefined
          ? undefined
          : { parentRunId, ...defined({ parentToolCallId, parentToolName }) },
      seq,
      effects: effects.ended === undefined ? effects : { publish: this.#publish },
      clock,
      grace,
      hookTimeoutMs,
      onFailure,
    });
    this.spending = new Spending({
      budget,
      clock,
      now: () => this.now(),
      runId,
      resume,
      turnLimit: input.turnLimit,
      onLate: effects.patience === undefined ? onFailure : undefined,
    });
    this.port = portTo(this);
    this.#release = onAbort(caller, () => this.#abort(caller?.reason));
  }

  get signal(): AbortSignal {
    return this.grace.signal;
  }

  /**
   * The reason to stop the run now, if any: a failed listener or queue, the time budget, or the
   * caller's abort.
   */
  get stop(): BowlineError | undefined {
    return this.#failure ?? this.#aborted;
  }

  /** Stops the run with this error at its next safe point. Returns the error. */
  fail(thrown: unknown): BowlineError {
    const error = toBowlineError(thrown, "internal_error");
    this.#failure ??= error;
    this.#abort();
    return error;
  }

  /**
   * Reads the configuration for the next turn. Returns an `invalid_argument` error if it is
   * invalid.
   */
  configure(): BowlineError | undefined {
    this.config = this.#configure();
    const { maxParallelTools: width = 1, model } = this.config;
    const fault = !isRecord(model)
      ? "No model is set. Pass one, such as from getModel()."
      : this.spending.hasCostLimit && !model.cost
        ? `maxCost needs the prices of model ${model.id}. Set its cost, or use withPrices().`
        : !(width >= 1) && `maxParallelTools must be at least 1, not ${width}.`;
    return fault ? new BowlineError("invalid_argument", fault) : undefined;
  }

  /** Whether the loop asks persons itself, because recorded hooks cannot wait for their answers. */
  get asksItself(): boolean {
    return this.effects.decide !== undefined && this.effects.patience !== undefined;
  }

  /** The time of a record that is made between steps. */
  now(): number {
    return this.effects.now?.() ?? this.clock.now();
  }

  /**
   * Calls a hook, or an effect that counts as one, with the time limit. A throw or timeout rejects with `hook_failed` and the hook's
   * name.
   */
  hook<T>(name: string, call: () => T | PromiseLike<T>, isEffect = false): Promise<T> {
    return callHook(name, () => {
      if (this.stop) throw this.stop; // the run may have stopped during an earlier wait
      const limitMs = this.#hookTimeoutMs;
      return isEffect ? this.effect(call, limitMs) : this.grace.patiently(call(), limitMs);
    });
  }

  /** Calls an effect, which ends by itself or within the limit and the abort grace period. */
  effect<T>(call: () => T | PromiseLike<T>, limitMs = 0): T | PromiseLike<T> {
    const { ended, patience } = this.effects;
    const asked = (): T | PromiseLike<T> =>
      patience === undefined ? this.grace.patiently(call(), limitMs) : call();
    return ended === undefined ? asked() : whileLive(ended, asked);
  }

  /**
   * Runs a step. A step that cannot be recorded stops the run, and its own result is used. Of a step
   * that is replayed, the changes are taken from its result.
   */
  async step<T extends StepResult>(
    name: string,
    fn: (port: RunPort) => Promise<T>,
    about: StepAbout,
  ): Promise<T> {
    let begun: Promise<T> | undefined;
    const begin = (): Promise<T> => (begun ??= this.#begin(fn));
    try {
      const result = await this.effect(() => this.effects.step(name, begin, about));
      if (begun === undefined) await this.apply(result);
      return result;
    } catch (error) {
      this.fail(toBowlineError(error, "storage_failed"));
      return begin();
    }
  }

  /**
   * Resolves with the verdict of user code that decides about the path of the run, recorded if the
   * effects do so.
   */
  decide<T>(name: string, fn: (port: RunPort) => Promise<T>): Promise<T> {
    const { effects } = this;
    if (effects.decide === undefined) return fn(this.port);
    const work = (): Promise<T> => fn(portTo(this, "decision"));
    return Promise.resolve(this.effect(() => decided(effects, name, work)));
  }

  /** Waits for an answer from outside. */
  wait<T>(name: string, options: WaitOptions): Promise<T> {
    const { ended } = this.effects;
    const wait = (): Promise<T> => this.effects.waitFor(name, options);
    return ended === undefined ? wait() : whileLive(ended, wait);
  }

  /** Applies the changes of a step that another attempt or process ran. */
  async apply({ usage, nested, kept, memory }: StepResult): Promise<void> {
    if (usage) this.spending.add(usage);
    if (nested) this.spending.addNested(nested);
    for (const [name, value] of Object.entries(memory ?? {})) this.memory.set(name, value);
    for (const event of kept ?? []) await this.emitter.emit(fromKept(event, this.context.messages));
  }

  /**
   * Adds a message to the transcript and emits `message_start` and `message_end`. With `isStarted`,
   * emits only `message_end`.
   */
  async add(message: AgentMessage, isStarted = false): Promise<void> {
    if (!isStarted) await this.emitter.emit({ type: "message_start", message });
    this.context.messages.push(message);
    this.newMessages.push(message);
    await this.emitter.emit({ type: "message_end", message });
  }

  /** Waits for the end of the time budget through effects that have patience: they record it. */
  watchDeadline(): void {
    const { deadline } = this.spending;
    if (deadline === undefined || this.effects.patience === undefined) return;
    const { signal } = this.#done;
    this.wait(`deadline:${this.id}`, { until: deadline.at, signal }).catch((error: unknown) => {
      if (isBowlineError(error) && error.code === "timeout") this.fail(deadline.error);
      else if (!signal.aborted) this.fail(error);
    });
  }

  /** Releases the run's timers and listeners. A run that `endedWell` will not be resumed. */
  end(endedWell: boolean): void {
    this.spending.end(endedWell);
    this.#done.abort();
    this.#release();
  }

  #abort(given?: unknown): void {
    if (this.signal.aborted) return;
    // The default reason of an abort is an AbortError.
    const isDefault = (given as Partial<Error> | undefined)?.name === "AbortError";
    this.#aborted = abortedRun(isDefault ? undefined : given);
    this.grace.abort(this.stop);
  }

  /** Publishes an event while this attempt at the run is not over. */
  readonly #publish: Effects["publish"] = (event, hear) => {
    const { effects } = this;
    return effects.ended?.aborted === true
      ? effects.publishLate?.(event)
      : effects.publish(event, hear);
  };

  async #begin<T extends StepResult>(fn: (port: RunPort) => Promise<T>): Promise<T> {
    const changes = new StepChanges(this.spending.budget, this.context.messages);
    return changes.addTo(await fn(portTo(this, changes)));
  }
}
