/**
 * An agent as a tool of another: a run inside a run, which shares its abort, its budget, its
 * listeners and its approvals.
 */
import { onAbort } from "../clock.ts";
import { BowlineError } from "../errors.ts";
import type { InferSchema } from "../infer-schema.ts";
import { messageText } from "../llm/message.ts";
import type { Usage } from "../llm/usage.ts";
import { toJsonSchema } from "../schema.ts";
import type { Agent } from "./agent.ts";
import type { AgentMessage } from "./contract/agent-message.ts";
import { createBudget, type SharedBudget } from "./contract/budget.ts";
import type { RunEndReason } from "./contract/event.ts";
import type { RunPort } from "./contract/run-port.ts";
import type { AgentTool } from "./contract/tool.ts";
import { textResult, type AgentToolResult } from "./contract/tool-result.ts";
import { toJson } from "./contract/tool-value.ts";
import { defineTool, type GivesJsonSchema, type ToolRun } from "./define-tool.ts";
import type { RunResult } from "./run/run-result.ts";

/** What is kept of the nested run beside its answer. */
export interface AgentToolDetails {
  readonly runId: string;
  readonly reason: RunEndReason;
  readonly turns: number;
  readonly usage: Usage;
}

const promptParameters = {
  type: "object",
  properties: {
    prompt: {
      type: "string",
      description: "The task, whole: nothing else of this conversation is seen.",
    },
  },
  required: ["prompt"],
} as const;

/** The arguments of an agent tool without `parameters` of its own: the prompt, as one text. */
export type PromptParameters = typeof promptParameters;

type MaybePromise<T> = T | PromiseLike<T>;

export interface AgentToolOptions<TParameters = PromptParameters> extends Pick<
  AgentTool<TParameters>,
  "name" | "description" | "label" | "executionMode" | "timeoutMs" | "needsApproval"
> {
  /**
   * Makes the agent of one call: calls may run at the same time, and none sees another's
   * transcript. It is given what `execute` of a tool is given.
   */
  readonly createAgent: (args: InferSchema<TParameters>, call: ToolRun) => MaybePromise<Agent>;
  /** A schema of an object, as of any tool. Default: `{ prompt: string }`. Needs `prompt`. */
  readonly parameters?: TParameters | undefined;
  /** Makes the agent's prompt from the checked arguments. Default: the argument `prompt`. */
  readonly prompt?: AgentToolPrompt<TParameters> | undefined;
  /** A schema of an object: the result is the run's `output`, as JSON. Default: its last answer. */
  readonly output?: unknown;
}

export type AgentToolPrompt<TParameters> = (
  args: InferSchema<TParameters>,
  call: ToolRun,
) => MaybePromise<string | AgentMessage | AgentMessage[]>;

/**
 * A tool whose call is a run of another agent. Its events reach the caller's listeners with the call
 * that started it (`parentRunId`, `parentToolCallId`, `parentToolName`); aborting the caller aborts
 * it; what it uses counts in the caller's budget, beside its own; a question of its own is answered
 * at the caller's agent. The result is its answer. A run that failed is a failed call. Throws
 * `invalid_argument` for a wrong schema, and for `parameters` without `prompt`.
 */
export function createAgentTool(
  options: AgentToolOptions & { readonly parameters?: undefined },
): AgentTool<PromptParameters>;
export function createAgentTool<const TParameters extends GivesJsonSchema>(
  options: AgentToolOptions<TParameters> & {
    readonly parameters: TParameters;
    readonly prompt: AgentToolPrompt<TParameters>;
  },
): AgentTool<TParameters>;
export function createAgentTool({
  createAgent,
  parameters,
  prompt: toPrompt,
  output,
  ...about
}: AgentToolOptions<unknown>): AgentTool {
  const { name } = about;
  if (parameters !== undefined && !toPrompt)
    throw new BowlineError(
      "invalid_argument",
      `The tool "${name}" has parameters of its own: give "prompt", which makes the agent's prompt from them.`,
    );
  if (output !== undefined) toJsonSchema(output, `the output of tool "${name}"`);
  return defineTool({
    ...about,
    parameters: parameters ?? promptParameters,
    async execute(args: unknown, call) {
      const { run: parent, signal } = call;
      const prompt = toPrompt
        ? await toPrompt(args, call)
        : (args as InferSchema<PromptParameters>).prompt;
      const agent = await createAgent(args, call);
      // From here to the prompt nothing waits: of two calls with one agent, the second must fail.
      const releases = parent ? [nest(agent, parent, { ...call, toolName: name })] : [];
      try {
        const running = agent.prompt(prompt, output === undefined ? {} : { output });
        releases.push(onAbort(signal, () => agent.abort())); // not before: an agent at rest has nothing to abort
        return resultOf(await running, output !== undefined);
      } finally {
        for (const release of releases) release();
      }
    },
  });
}

/** Throws for a run that failed or gave no answer. */
function resultOf(run: RunResult, hasOutput: boolean): AgentToolResult<AgentToolDetails> {
  const { message, output, error, runId, reason, turns, usage } = run;
  const answer = message ? messageText(message) : "";
  const isMissing = hasOutput ? output === undefined : answer === "";
  if (isMissing || (error !== undefined && reason !== "budget")) {
    throw new BowlineError(
      error?.code ?? "empty_response",
      error?.message ?? "The agent gave no answer.",
    );
  }
  const details: AgentToolDetails = { runId, reason, turns, usage };
  if (hasOutput) return { ...textResult(toJson(output)), details };
  const why = error?.message ?? "A limit cut the answer.";
  const note = reason === "done" ? "" : `\n\n[Not finished: ${why}]`;
  return { ...textResult(answer + note), details };
}

interface StartingCall extends Pick<ToolRun, "toolCallId" | "signal"> {
  readonly toolName: string;
}

/**
 * Ties the agent's next run to the call that starts it. Returns what unties them, for an agent that
 * is used again.
 */
function nest(
  agent: Agent,
  parent: RunPort,
  { toolCallId, toolName, signal }: StartingCall,
): () => void {
  if (agent.state.isStreaming)
    throw new BowlineError(
      "invalid_state",
      "This agent is at work: createAgent has to make one for each call.",
    );
  const { parentRunId, parentToolCallId, parentToolName, budget, abortGraceMs } = agent;
  Object.assign(agent, {
    parentRunId: parent.runId,
    parentToolCallId: toolCallId,
    parentToolName: toolName,
    budget: budgetWithin(budget, parent.budget),
    // It must have settled when the caller's own patience ends.
    abortGraceMs: Math.min(abortGraceMs ?? Infinity, parent.abortGraceMs / 2),
  });
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
    Object.assign(agent, { parentRunId, parentToolCallId, parentToolName, budget, abortGraceMs });
  };
}

function budgetWithin(own: Agent["budget"], parent: SharedBudget): SharedBudget {
  if (!own) return parent;
  if (!("used" in own)) return createBudget(own, parent);
  return { ...own, parent: own.parent ? budgetWithin(own.parent, parent) : parent };
}
