import type { Clock } from "../../clock.ts";
import type { Usage } from "../../llm/usage.ts";
import type { SharedBudget } from "./budget.ts";
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
   * Resolves with the answer given under this name from outside. Rejects when the signal fires.
   * Default: the run's signal.
   */
  waitFor<T>(name: string, signal?: AbortSignal): Promise<T>;
}
