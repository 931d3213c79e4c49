/**
 * An agent as a tool of another: a run inside a run, which shares its abort, its budget, its
 * listeners and its approvals.
 */
import { onAbort } from "../clock.ts";
import { BowlineError } from "../errors.ts";
import { messageText } from "../llm/message.ts";
import type { Usage } from "../llm/usage.ts";
import type { Agent } from "./agent.ts";
import { createBudget, type SharedBudget } from "./contract/budget.ts";
import type { RunEndReason } from "./contract/event.ts";
import type { RunPort } from "./contract/run-port.ts";
import type { AgentTool } from "./contract/tool.ts";
import { textResult } from "./contract/tool-result.ts";
import { defineTool } from "./define-tool.ts";

/** What is kept of the nested run beside its answer. */
export interface AgentToolDetails {
  readonly runId: string;
  readonly reason: RunEndReason;
  readonly turns: number;
  readonly usage: Usage;
}

export interface AgentToolOptions extends Pick<
  AgentTool,
  "name" | "description" | "label" | "executionMode"
> {
  /**
   * Makes the agent of one call: calls may run at the same time, and none sees another's
   * transcript.
   */
  readonly createAgent: () => Agent;
}

const parameters = {
  type: "object",
  properties: {
    prompt: {
      type: "string",
      description: "The task, whole: nothing else of this conversation is seen.",
    },
  },
  required: ["prompt"],
} as const;

/**
 * A tool whose call is a run of another agent. Its events reach the caller's listeners with
 * `parentRunId`; aborting the caller aborts it; what it uses counts in the caller's budget, beside
 * its own; a question of its own is answered at the caller's agent. The result is its answer. A run
 * that failed is a failed call.
 */
export function createAgentTool({
  createAgent,
  ...about
}: AgentToolOptions): AgentTool<typeof parameters> {
  return defineTool({
    ...about,
    parameters,
    async execute({ prompt }, { run: parent, signal }) {
      const agent = createAgent();
      const releases = parent ? [nest(agent, parent, signal)] : [];
      try {
        const running = agent.prompt(prompt);
        releases.push(onAbort(signal, () => agent.abort())); // not before: an agent at rest has nothing to abort
        const { message, error, runId, reason, turns, usage } = await running;
        const text = message ? messageText(message) : "";
        const stopped = error !== undefined && reason !== "budget";
        if (stopped || text === "") {
          throw new BowlineError(
            error?.code ?? "empty_response",
            error?.message ?? "The agent gave no answer.",
          );
        }
        const why = error?.message ?? "A limit cut the answer.";
        const note = reason === "done" ? "" : `\n\n[Not finished: ${why}]`;
        const details: AgentToolDetails = { runId, reason, turns, usage };
        return { ...textResult(text + note), details };
      } finally {
        for (const release of releases) release();
      }
    },
  });
}

/**
 * Ties the agent's next run to the run that called it. Returns what unties them, for an agent that
 * is used again.
 */
function nest(agent: Agent, parent: RunPort, signal: AbortSignal): () => void {
  if (agent.state.isStreaming)
    throw new BowlineError(
      "invalid_state",
      "This agent is at work: createAgent has to make one for each call.",
    );
  const { parentRunId, budget, abortGraceMs } = agent;
  agent.parentRunId = parent.runId;
  agent.budget = budgetWithin(budget, parent.budget);
  // It must have settled when the caller's own patience ends.
  agent.abortGraceMs = Math.min(abortGraceMs ?? Infinity, parent.abortGraceMs / 2);
  const questions = new Map<string, AbortController>();
  const unsubscribe = agent.subscribe((event) => {
    // A question of its own, or one that passes through from further down.
    if (event.type === "approval_request") {
      const { approvalId } = event;
      const closed = new AbortController();
      questions.set(approvalId, closed);
      parent.waitFor(approvalId, AbortSignal.any([signal, closed.signal])).then(
        (answer) => agent.answer(approvalId, answer),
        () => {}, // the question is closed; the nested run knows by itself
      );
    }
    if (event.type === "approval_answer") questions.get(event.approvalId)?.abort();
    return parent.emit(event);
  });
  return () => {
    unsubscribe();
    Object.assign(agent, { parentRunId, budget, abortGraceMs });
  };
}

function budgetWithin(own: Agent["budget"], parent: SharedBudget): SharedBudget {
  if (!own) return parent;
  if (!("used" in own)) return createBudget(own, parent);
  return { ...own, parent: own.parent ? budgetWithin(own.parent, parent) : parent };
}
