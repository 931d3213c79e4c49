import type { Clock } from "../../clock.ts";
import type { Usage } from "../../llm/usage.ts";
import type { SharedBudget } from "./budget.ts";
import type { AgentEvent, AgentEventBody } from "./event.ts";

/** What a hook or a tool may do on the run it serves. */
export interface RunPort {
  readonly runId: string;
  readonly clock: Clock;
  /**
   * What the run draws on. A run that a tool starts with it keeps to it too, and what that run uses
   * is in this run's usage.
   */
  readonly budget: SharedBudget;
  /** How long, after an abort, what ignores its signal is waited for, in milliseconds. */
  readonly abortGraceMs: number;
  /**
   * Says something in the run's order, or passes on an event of a nested run as it is. Resolves
   * when listeners are done.
   */
  emit(event: AgentEventBody | AgentEvent): Promise<void> | undefined;
  /** Counts a model call that was made for the run but is in no message of it; in `budget` too. */
  addUsage(usage: Usage, budget?: SharedBudget): void;
  /**
   * The names of tools that a person has allowed for the rest of the session: the agent's, until its
   * `reset()`; of a loop without an agent, the run's.
   */
  readonly approvedTools: Set<string>;
  /**
   * Waits for an answer from outside under this name. Rejects when the signal fires; default: the
   * run's.
   */
  waitFor<T>(name: string, signal?: AbortSignal): Promise<T>;
}
