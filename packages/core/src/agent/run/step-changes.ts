/** What a step changes in its run: collected while the step runs, and part of its result. */
import { defined } from "../../json-value.ts";
import { addUsage, type Usage } from "../../llm/usage.ts";
import { createBudget, type SharedBudget } from "../contract/budget.ts";
import type { AgentEvent, AgentEventBody } from "../contract/event.ts";
import type { StepResult } from "../contract/step.ts";

export class StepChanges {
  /** The budget for nested runs of the step. It counts what they draw on the run's budget. */
  readonly budget: SharedBudget;
  readonly #kept: AgentEventBody[] = [];
  #usage: Usage | undefined;
  #memory: Record<string, unknown> | undefined;

  constructor(budget: SharedBudget) {
    this.budget = createBudget({}, budget);
    this.budget.used.reported = {};
  }

  addUsage(usage: Usage): void {
    this.#usage = addUsage(this.#usage ?? {}, usage);
  }

  /** Stores an event of the run itself that others record. */
  keep(event: AgentEventBody | AgentEvent): void {
    if (event.type === "compaction_end" && !("runId" in event)) this.#kept.push(event);
  }

  remember(name: string, value: unknown): void {
    this.#memory = { ...this.#memory, [name]: value };
  }

  /** Returns the result with the changes. */
  addTo<T extends StepResult>(result: T): T {
    const { turns, tokens, reported: usage = {} } = this.budget.used;
    const guess = tokens - (usage.totalTokens ?? 0) || undefined;
    const isUsed = turns > 0 || Object.keys(usage).length > 0;
    return {
      ...result,
      ...defined({
        usage: this.#usage,
        nested: isUsed ? { turns, usage, ...defined({ guess }) } : undefined,
        kept: this.#kept.length > 0 ? this.#kept : undefined,
        memory: this.#memory,
      }),
    };
  }
}
