/**
 * The port for the loop's effects. A session file or a durable engine implements it to record each
 * step, and to skip finished steps when a run resumes. The default implementation is in memory.
 *
 * An engine that replays calls the loop again from its start and returns recorded results. For the
 * same results the loop then makes the same calls, in the same order and under the same names. The
 * page `docs/durable.md` describes this.
 */
import type { ErrorInfo } from "../../errors.ts";
import { defined, type Optional } from "../../json-value.ts";
import type { Usage } from "../../llm/usage.ts";
import type { AgentMessage } from "./agent-message.ts";
import type { AgentEvent, RunEndReason } from "./event.ts";
import type { StepAbout, StepResult, ToolStep, ToolStepResult } from "./step.ts";

export type InboxKind = "steering" | "followUp";

/** Options of a wait. */
export interface WaitOptions {
  /** The wait rejects when it fires. */
  readonly signal?: AbortSignal | undefined;
  /** The end of the wait, in milliseconds since the epoch. Default: no limit. */
  readonly until?: number | undefined;
}

export interface Effects {
  /**
   * Runs `fn` once for this name and resolves with its JSON-safe result. An engine records the
   * intent before and the whole result after. It returns a recorded result without running `fn`.
   * Names are stable: `model:<turn>`, `tool:<turn>:<call id>`. `fn` never rejects. A rejection of
   * `step` ends the run with its error. A step that is pending when the abort grace period ends also
   * ends the run. The result of `fn` then counts, and an `fn` that has not started never runs.
   */
  step<T extends StepResult>(name: string, fn: () => Promise<T>, about: StepAbout): Promise<T>;
  /**
   * Returns the recorded result of a tool's step, for a run that continues from its transcript. It
   * is called before approval and before the tool runs. For a call that started and must not be
   * repeated, it returns a result that says so. Undefined, or no such method, means that the call
   * may run. It is also called for calls of a run's last answer that have results in the transcript,
   * because results there do not say whether they ended the run. A rejection ends the run with its
   * error. The abort grace period applies as for `step`. An engine that replays leaves it out.
   */
  recorded?(name: string): Promise<ToolStepResult | undefined> | ToolStepResult | undefined;
  /**
   * Called once before tools start together, with the calls that start: all allowed calls of an
   * answer, or each call when they run one at a time. An engine can record the intents of all calls
   * at once here. A rejection ends the run with its error, and the calls do not run.
   */
  begin?(calls: readonly ToolStep[]): Promise<void>;
  /**
   * Returns the recorded verdict under this name, or runs `fn` and records its JSON-safe verdict.
   * `fn` never rejects when the loop calls this. It covers user code between steps that decides what
   * the run does next:
   *
   * - `ask:<turn>:<call id>`: preparation and validation of arguments, `needsApproval`,
   *   `beforeToolCall`;
   * - `stop:<turn>`: `shouldStopAfterTurn`;
   * - `output:<kind>:<turn>`: validation of the run's output;
   * - `after:<turn>:<call id>`: `afterToolCall` of a call that {@link child} runs.
   *
   * Absent: `fn` runs each time.
   */
  decide?<T>(name: string, fn: () => Promise<T>): Promise<T>;
  /**
   * Runs the nested run of an agent tool's call, under the name of the call's step and instead of a
   * step. Resolves with its JSON-safe result. Absent: the nested run is part of the tool's step.
   */
  child?(name: string, start: ChildRun): Promise<ChildResult>;
  /**
   * Resolves when a person or another process answers under this name. Rejects with `timeout` at
   * `until`, also if an answer that was given later is already there, and when `signal` fires.
   */
  waitFor<T>(name: string, options?: WaitOptions): Promise<T>;
  /**
   * The names of tools that a person has allowed, for all runs that get this set. Absent: each run
   * has its own set. An engine that replays passes the same names to each attempt of a run.
   */
  readonly approvedTools?: Set<string>;
  /**
   * Returns whether messages of this kind are queued now, without taking them. Absent: unknown. With
   * `patience: "none"` it is only called within steps, whose results are recorded.
   */
  hasQueued?(kind: InboxKind): boolean;
  /**
   * Removes and returns the queued messages that are due now. `turn` is the number of model calls so
   * far, so that kind and turn together name the read: each pair occurs at most once in a run.
   */
  inbox(kind: InboxKind, turn: number): readonly AgentMessage[] | Promise<readonly AgentMessage[]>;
  /** Puts messages back that `inbox` delivered after the run had stopped waiting. */
  giveBack?(kind: InboxKind, messages: readonly AgentMessage[]): void;
  /**
   * Passes an event to each listener in turn, with `hear`, after the previous listener is done.
   * Never throws or rejects. An engine that replays returns nothing, so that the loop does not wait.
   */
  publish(event: AgentEvent, hear: Hear): void | Promise<void>;
  /**
   * The time of records that the loop makes between steps, in milliseconds since the epoch: of
   * results, and for time limits. An engine that replays returns the time that was recorded with the
   * last result that it delivered. Default: the time of the run's clock.
   */
  now?(): number;
  /**
   * Fires when this attempt at the run is over and another one may have begun. The loop then
   * publishes nothing, calls no effect and no hook, and rejects with `aborted`. Steps that are
   * running continue until the caller's signal fires.
   */
  readonly ended?: AbortSignal;
  /**
   * Takes the events of steps that continue after `ended` has fired, which `publish` does not get.
   * An engine whose next attempt takes over such a step can publish them there. Must not throw.
   * Default: they are dropped.
   */
  publishLate?(event: AgentEvent): void;
  /**
   * Set to `none` by an engine that ends steps, decisions, reads of queues and waits by itself. The
   * loop then has no time limits around them, and the time budget is a wait named
   * `deadline:<run id>`. Tools and hooks cannot wait for answers then: a wait within a step or a
   * decision rejects with `invalid_state`.
   */
  readonly patience?: "none";
}

/** A nested run that is about to start. */
export interface ChildRun {
  /** The call that starts it. Its arguments are those of the agent tool. */
  readonly about: ToolStep;
  /** The time limit of the call in milliseconds, for the engine to apply. Absent: no limit. */
  readonly timeoutMs?: number;
  /** Fires when the calling run is aborted. */
  readonly signal: AbortSignal;
  /** Runs it in this process, with the agent that the tool creates. Never rejects. */
  readonly here: () => Promise<ChildResult>;
}

/** The result of a nested run, with the fields of its `RunResult`. */
interface ChildEnd {
  readonly runId: string;
  readonly reason: RunEndReason;
  readonly text: string;
  readonly output?: unknown;
  readonly usage: Usage;
  readonly turns: number;
  readonly error?: ErrorInfo;
}

/** The result of a nested run, or the error of one that could not start. */
export type ChildResult = ChildEnd | { readonly error: ErrorInfo };

/**
 * Calls a listener and waits for it up to its time limit. Returns undefined when there is nothing
 * to wait for. Never throws or rejects: a listener that fails ends the run with `listener_failed`.
 */
export type Hear = (
  listener: (event: AgentEvent) => unknown,
  event: AgentEvent,
) => Promise<void> | undefined;

/** Returns the options of a wait, which may be given as a signal alone. */
export function waitOptions(options: WaitOptions | AbortSignal = {}): WaitOptions {
  return "aborted" in options ? { signal: options } : options;
}

/**
 * Returns the given ports, bound to their object, for spreading into an object literal. A spread
 * does not copy the methods of a class, and unbound methods lose their object.
 */
export function portsOf(ports: Optional<Effects> | undefined): Partial<Effects> {
  return defined({
    step: ports?.step?.bind(ports),
    recorded: ports?.recorded?.bind(ports),
    begin: ports?.begin?.bind(ports),
    decide: ports?.decide?.bind(ports),
    child: ports?.child?.bind(ports),
    waitFor: ports?.waitFor?.bind(ports),
  });
}
