/** What a step changes in its run: collected while the step runs, and part of its result. */
import { defined } from "../../json-value.ts";
import { addUsage, type Usage } from "../../llm/usage.ts";
import { createBudget, type SharedBudget } from "../contract/budget.ts";
import type { AgentMessage } from "../contract/agent-message.ts";
import type { AgentEvent, AgentEventBody } from "../contract/event.ts";
import type { KeptEvent, StepResult } from "../contract/step.ts";

export class StepChanges {
  /** The budget for nested runs of the step. It counts what they draw on the run's budget. */
  readonly budget: SharedBudget;
  readonly #messages: readonly AgentMessage[];
  readonly #kept: KeptEvent[] = [];
  #usage: Usage | undefined;
  #memory: Record<string, unknown> | undefined;

  /** `messages` is the run's transcript. */
  constructor(budget: SharedBudget, messages: readonly AgentMessage[]) {
    this.#messages = messages;
    this.budget = createBudget({}, budget);
    this.budget.used.reported = {};
  }

  addUsage(usage: Usage): void {
    this.#usage = addUsage(this.#usage ?? {}, usage);
  }

  /** Stores an event of the run itself that others record. */
  keep(event: AgentEventBody | AgentEvent): void {
    if (event.type === "compaction_end" && !("runId" in event))
      this.#kept.push(toKept(event, this.#messages));
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

/**
 * Returns the event for the record. A message of the transcript is left out: a record returns a copy,
 * and a compaction of other messages than the transcript's is told by that.
 */
function toKept(
  event: Extract<AgentEventBody, { type: "compaction_end" }>,
  messages: readonly AgentMessage[],
): KeptEvent {
  const { firstKept, ...rest } = event;
  return messages[rest.firstKeptIndex] === firstKept ? { ...rest, isOfTranscript: true } : event;
}

/** Returns the event that was kept, with the message of the transcript. */
export function fromKept(kept: KeptEvent, messages: readonly AgentMessage[]): AgentEventBody {
  const { isOfTranscript = false, ...event } = kept;
  if (event.type !== "compaction_end" || !isOfTranscript) return event;
  return { ...event, ...defined({ firstKept: messages[event.firstKeptIndex] }) };
}
