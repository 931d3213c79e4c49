import type { Clock } from "../../clock.ts";
import type { Usage } from "../../llm/usage.ts";
import type { SharedBudget } from "./budget.ts";
import type { WaitOptions } from "./effects.ts";
import type { AgentEvent, AgentEventBody } from "./event.ts";

/** The interface of a run for its hooks and tools. */
export interface RunPort {
  readonly runId: string;
  readonly clock: Clock;
  /**
   * The run's budget. A nested run that a tool starts with this budget shares its limits, and its
   * usage counts in this run's usage.
   */
  readonly budget: SharedBudget;
  /**
   * The abort grace period in milliseconds: how long the run waits after an abort for code that
   * ignores its signal.
   */
  readonly abortGraceMs: number;
  /**
   * Emits an event in the run's order, or forwards an event of a nested run unchanged. Resolves
   * when listeners are done.
   */
  emit(event: AgentEventBody | AgentEvent): Promise<void> | undefined;
  /**
   * Adds the usage of a model call that no message of the run carries, to the run and to `budget`.
   */
  addUsage(usage: Usage, budget?: SharedBudget): void;
  /**
   * The names of tools that a person has allowed for the rest of the session. The set belongs to
   * the agent until its `reset()`; in a loop without an agent, to the run.
   */
  readonly approvedTools: Set<string>;
  /**
   * JSON-safe state that hooks keep for the run, by name. What a hook sets during a step is recorded
   * with the step's result, so that a run that an engine replays has it without calling the hook.
   */
  readonly memory: RunMemory;
  /**
   * Resolves with the answer given under this name from outside. Rejects with `timeout` at `until`,
   * and when the signal fires. Default signal: the run's. A signal alone may be given instead of
   * options. Rejects with `invalid_state` in a tool or hook of a run whose effects have
   * `patience: "none"`: only the loop can wait there. A `beforeToolCall` returns `ask` instead.
   */
  waitFor<T>(name: string, options?: WaitOptions | AbortSignal): Promise<T>;
  /**
   * Returns the verdict recorded under this name, or runs `fn` and records its JSON-safe verdict if
   * the run's effects record verdicts. For a hook that decides by something that may change, such as
   * a file. Within a step or another decision, `fn` runs as part of it.
   */
  decide<T>(name: string, fn: () => Promise<T>): Promise<T>;
}

/** State by name. */
export interface RunMemory {
  get(name: string): unknown;
  set(name: string, value: unknown): void;
}
