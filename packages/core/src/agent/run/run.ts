/** The state of one run, shared by the turns, the tools and the loop. */
import { onAbort, randomId, systemClock, type Clock } from "../../clock.ts";
import { BowlineError, callHook, toBowlineError } from "../../errors.ts";
import { defined, isRecord } from "../../json-value.ts";
import type { StreamFn } from "../../llm/model.ts";
import { abortedRun } from "../contract/aborted-run.ts";
import type { AgentMessage } from "../contract/agent-message.ts";
import type { Effects, StepAbout } from "../contract/effects.ts";
import type { AgentContext, AgentLoopConfig } from "../contract/hooks.ts";
import type { RunPort } from "../contract/run-port.ts";
import type { AgentTool } from "../contract/tool.ts";
import type { ToolOutcome } from "../contract/tool-result.ts";
import { AbortGrace } from "./abort-grace.ts";
import { Emitter } from "./emitter.ts";
import type { InterruptedRun } from "./run-result.ts";
import { Spending } from "./spending.ts";

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
  /** The interface of the run for hooks and tools. */
  readonly port: RunPort;
  readonly newMessages: AgentMessage[] = [];
  readonly tools: { toolCallId: string; toolName: string; outcome: ToolOutcome }[] = [];
  config: AgentLoopConfig;
  /**
   * The tools of the last request. The calls of its answer use these, even if tools were reassigned
   * since.
   */
  declared?: readonly AgentTool[];
  turns: number;
  /** Whether the last event is being emitted. */
  isEnding = false;
  readonly #configure: () => AgentLoopConfig;
  readonly #hookTimeoutMs: number;
  readonly #release: () => void;
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
    const { runId = createId(), seq = 0, turns = 0, usage = {} } = resume ?? {};
    this.id = runId;
    this.context = context;
    this.clock = clock;
    this.streamFn = streamFn;
    this.config = config;
    this.turns = turns;
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
      effects,
      clock,
      grace,
      hookTimeoutMs,
      onFailure,
    });
    this.spending = new Spending({
      budget,
      clock,
      runId,
      turns,
      usage,
      turnLimit: input.turnLimit,
      onLate: onFailure,
    });
    this.effects = {
      ...effects,
      step: (name, fn, about) => this.#step(effects, name, fn, about),
    };
    this.port = this.#portTo(effects);
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

  /**
   * Calls a hook with the time limit. A throw or timeout rejects with `hook_failed` and the hook's
   * name.
   */
  hook<T>(name: string, call: () => T | PromiseLike<T>): Promise<T> {
    return callHook(name, () => {
      if (this.stop) throw this.stop; // the run may have stopped during an earlier wait
      return this.grace.patiently(call(), this.#hookTimeoutMs);
    });
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

  /** Releases the run's timers and listeners. A run that `endedWell` will not be resumed. */
  end(endedWell: boolean): void {
    this.spending.end(endedWell);
    this.#release();
  }

  #abort(given?: unknown): void {
    if (this.signal.aborted) return;
    // The default reason of an abort is an AbortError.
    const isDefault = (given as Partial<Error> | undefined)?.name === "AbortError";
    this.#aborted = abortedRun(isDefault ? undefined : given);
    this.grace.abort(this.stop);
  }

  /** Runs a step. A step that cannot be recorded stops the run, and its own result is used. */
  async #step<T>(
    effects: Effects,
    name: string,
    fn: () => Promise<T>,
    about: StepAbout,
  ): Promise<T> {
    let begun: Promise<T> | undefined;
    const begin = (): Promise<T> => (begun ??= fn());
    try {
      return await this.grace.patiently(effects.step(name, begin, about));
    } catch (error) {
      this.fail(toBowlineError(error, "storage_failed"));
      return begin();
    }
  }

  /** Returns a plain object, because hooks may destructure its functions. */
  #portTo(effects: Effects): RunPort {
    const { id: runId, clock, grace, spending, signal } = this;
    return {
      runId,
      clock,
      budget: spending.budget,
      get abortGraceMs() {
        return grace.ms;
      },
      approvedTools: effects.approvedTools ?? new Set(),
      // A nested run may outlive this one.
      emit: (event) => (this.isEnding ? undefined : this.emitter.emit(event)),
      addUsage: (used, also) => spending.add(used, also),
      waitFor: (name, until = signal) => effects.waitFor(name, until),
    };
  }
}
