/** What one run is made of: the parts that the turn, the tools and the loop share. */
import { onAbort, randomId, systemClock, type Clock } from "../../clock.ts";
import { BowlineError, callHook, toBowlineError } from "../../errors.ts";
import { isRecord } from "../../json-value.ts";
import type { AssistantMessage } from "../../llm/message.ts";
import type { StreamFn } from "../../llm/model.ts";
import type { Usage } from "../../llm/usage.ts";
import { abortedRun } from "../contract/aborted-run.ts";
import type { AgentMessage } from "../contract/agent-message.ts";
import type { Effects } from "../contract/effects.ts";
import type { RunEndReason } from "../contract/event.ts";
import type { AgentContext, AgentLoopConfig } from "../contract/hooks.ts";
import type { RunPort } from "../contract/run-port.ts";
import type { AgentTool } from "../contract/tool.ts";
import type { ToolOutcome } from "../contract/tool-result.ts";
import { AbortGrace } from "./abort-grace.ts";
import { Emitter } from "./emitter.ts";
import { Spending } from "./spending.ts";

/** What a run came to. */
export interface RunResult<TOutput = unknown> {
  readonly runId: string;
  readonly reason: RunEndReason;
  /**
   * The last assistant message with content; after a run that was cut short the last with text.
   * Where there is none it is what the failed call left, with no content.
   */
  readonly message?: AssistantMessage;
  /** The value of a run that was asked for one, checked. Absent when the run ended before it. */
  readonly output?: TOutput;
  /** Messages new in this run. */
  readonly messages: AgentMessage[];
  /** The sum over the run's model calls. */
  readonly usage: Usage;
  /** Model calls begun, one that a hook ended before it was sent included. */
  readonly turns: number;
  /** Each tool call and what became of it, in order. */
  readonly tools: readonly {
    readonly toolCallId: string;
    readonly toolName: string;
    readonly outcome: ToolOutcome;
  }[];
  readonly error?: BowlineError;
}

/** A run that its process did not finish: the transcript holds what it came to. */
export interface InterruptedRun {
  readonly runId: string;
  /** Answers of the model that the transcript has of this run. */
  readonly turns: number;
  /** What they used. */
  readonly usage?: Usage;
  /** The number of its next event. Default 0. */
  readonly seq?: number;
}

export interface RunInput {
  readonly context: AgentContext;
  /** Asked once a turn, so that a change of model or hooks takes effect with the next one. */
  readonly config: () => AgentLoopConfig;
  readonly effects: Effects;
  readonly streamFn: StreamFn;
  readonly signal?: AbortSignal | undefined;
  /** The run to go on with, instead of a new one. */
  readonly resume?: InterruptedRun | undefined;
}

export const DEFAULT_HOOK_TIMEOUT_MS = 60_000;
const DEFAULT_ABORT_GRACE_MS = 1_000;

/**
 * One run's state. `signal` fires on the caller's abort, on the time budget and when a listener has
 * failed.
 */
export interface Run extends Omit<RunInput, "config" | "signal"> {
  readonly id: string;
  readonly clock: Clock;
  readonly emitter: Emitter;
  readonly grace: AbortGrace;
  readonly signal: AbortSignal;
  readonly newMessages: AgentMessage[];
  readonly tools: { toolCallId: string; toolName: string; outcome: ToolOutcome }[];
  /** What hooks and tools are given of the run. */
  readonly port: RunPort;
  config: AgentLoopConfig;
  /**
   * The tools that the last answer was asked for with: its calls are of these, whatever was
   * assigned meanwhile.
   */
  declared?: readonly AgentTool[];
  readonly spending: Spending;
  turns: number;
  /** The last event is on its way. */
  isEnding: boolean;
  /**
   * Takes the configuration as it is now for the next turn; gives what is wrong with it, if
   * something is.
   */
  configure(): BowlineError | undefined;
  /**
   * Calls a hook that has to answer in time: whatever goes wrong with it is `hook_failed` under its
   * name.
   */
  hook<T>(name: string, call: () => T | PromiseLike<T>): Promise<T>;
  /** Stops the run at its next safe point, as this error, which it gives back. */
  fail(thrown: unknown): BowlineError;
  /**
   * Why the run has to stop now, if it has to: a failed listener or queue, the time budget, or the
   * caller's abort.
   */
  readonly stop: BowlineError | undefined;
  /** Adds a message, with its two events; with its end alone, if its start is out already. */
  add(message: AgentMessage, isStarted?: boolean): Promise<void>;
  /** Releases what the run held. */
  end(): void;
}

export function createRun({ config: configure, signal: caller, ...input }: RunInput): Run {
  const config = configure();
  const {
    clock = systemClock,
    createId = randomId,
    hookTimeoutMs = DEFAULT_HOOK_TIMEOUT_MS,
    parentRunId,
  } = config;
  const { runId: id = createId(), seq = 0, turns = 0, usage = {} } = input.resume ?? {};
  const grace = new AbortGrace(clock, () => run.config.abortGraceMs ?? DEFAULT_ABORT_GRACE_MS);
  const { signal } = grace;
  const abort = (): void => {
    if (signal.aborted) return;
    run.stop = failure ?? abortedRun();
    grace.abort();
  };
  let failure: BowlineError | undefined;
  const fail = (thrown: unknown): BowlineError => {
    const error = toBowlineError(thrown, "internal_error");
    run.stop = failure ??= error;
    abort();
    return error;
  };
  const emitter = new Emitter({
    runId: id,
    parentRunId,
    seq,
    effects: input.effects,
    clock,
    signal,
    patiently: (result, giveUp) => grace.patiently(result, hookTimeoutMs, giveUp, true),
    onFailure: fail,
  });
  const { budget } = config;
  const spending = new Spending({ budget, clock, turns, usage, onLate: fail });
  const run: Run & { stop: Run["stop"] } = {
    ...input,
    id,
    clock,
    emitter,
    grace,
    signal,
    newMessages: [],
    tools: [],
    effects: {
      ...input.effects,
      async step(name, fn, about) {
        let begun: ReturnType<typeof fn> | undefined;
        const begin = (): ReturnType<typeof fn> => (begun ??= fn());
        try {
          return await grace.patiently(input.effects.step(name, begin, about));
        } catch (error) {
          run.fail(toBowlineError(error, "storage_failed"));
          return begin();
        }
      },
    },
    port: {
      runId: id,
      clock,
      budget: spending.budget,
      get abortGraceMs() {
        return grace.ms;
      },
      // A nested run may outlive this one.
      emit: (event) => (run.isEnding ? undefined : emitter.emit(event)),
      addUsage: (used) => spending.add(used),
      waitFor: (name, until = signal) => input.effects.waitFor(name, until),
    },
    config,
    spending,
    turns,
    isEnding: false,
    configure() {
      run.config = configure();
      const { maxParallelTools: width = 1, model } = run.config;
      if (!isRecord(model))
        return new BowlineError(
          "invalid_argument",
          "No model is set: use one that getModel() gives.",
        );
      if (width >= 1) return undefined;
      return new BowlineError(
        "invalid_argument",
        `maxParallelTools must be at least 1, not ${width}.`,
      );
    },
    fail,
    hook: <T>(name: string, call: () => T | PromiseLike<T>) =>
      callHook(name, () => {
        if (run.stop) throw run.stop; // what was waited for before may have outlasted the run
        return grace.patiently(call(), hookTimeoutMs);
      }),
    stop: undefined,
    async add(message, isStarted = false) {
      if (!isStarted) await emitter.emit({ type: "message_start", message });
      input.context.messages.push(message);
      run.newMessages.push(message);
      await emitter.emit({ type: "message_end", message });
    },
    end() {
      spending.end();
      release();
    },
  };
  const release = onAbort(caller, abort);
  return run;
}
