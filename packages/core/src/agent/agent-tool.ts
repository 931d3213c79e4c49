/**
 * Uses an agent as a tool of another agent. The nested run shares the caller's abort, budget,
 * listeners and approvals.
 */
import { onAbort } from "../clock.ts";
import { BowlineError, toBowlineError, toErrorInfo } from "../errors.ts";
import type { InferSchema } from "../infer-schema.ts";
import { defined } from "../json-value.ts";
import { messageText } from "../llm/message.ts";
import type { Usage } from "../llm/usage.ts";
import { toJsonSchema } from "../schema.ts";
import type { Agent } from "./agent.ts";
import type { AgentMessage } from "./contract/agent-message.ts";
import { createBudget, type SharedBudget } from "./contract/budget.ts";
import type { ChildResult } from "./contract/effects.ts";
import type { RunEndReason } from "./contract/event.ts";
import type { RunPort } from "./contract/run-port.ts";
import type { AgentTool, NestedTool } from "./contract/tool.ts";
import { textResult, type AgentToolResult } from "./contract/tool-result.ts";
import { toJson } from "./contract/tool-value.ts";
import { defineTool, type GivesJsonSchema, type ToolRun } from "./define-tool.ts";
import type { RunResult } from "./run/run-result.ts";

/** Facts about the nested run, stored in the result's `details`. */
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
      description: "The complete task. The agent sees nothing else of this conversation.",
    },
  },
  required: ["prompt"],
} as const;

/** The default arguments of an agent tool: the prompt as one string. */
export type PromptParameters = typeof promptParameters;

type MaybePromise<T> = T | PromiseLike<T>;

export interface AgentToolOptions<TParameters = PromptParameters> extends Pick<
  AgentTool<TParameters>,
  "name" | "description" | "label" | "executionMode" | "timeoutMs" | "needsApproval"
> {
  /**
   * Creates the agent for one call. Calls may run concurrently, and each needs an agent with its
   * own transcript. It receives the same arguments as a tool's `execute`.
   */
  readonly createAgent: (args: InferSchema<TParameters>, call: ToolRun) => MaybePromise<Agent>;
  /**
   * The schema of the arguments, an object. Default: `{ prompt: string }`. Requires the option
   * `prompt`.
   */
  readonly parameters?: TParameters | undefined;
  /** Creates the agent's prompt from the validated arguments. Default: the argument `prompt`. */
  readonly prompt?: AgentToolPrompt<TParameters> | undefined;
  /**
   * A schema of an object. The tool's result is then the run's `output` as JSON. Default: the text
   * of the run's last answer.
   */
  readonly output?: unknown;
}

export type AgentToolPrompt<TParameters> = (
  args: InferSchema<TParameters>,
  call: ToolRun,
) => MaybePromise<string | AgentMessage | AgentMessage[]>;

/**
 * Creates a tool whose call is a run of another agent. The result is the run's answer; a failed run
 * is a failed call. The nested run's events reach the caller's listeners with `parentRunId`,
 * `parentToolCallId` and `parentToolName`. Aborting the caller aborts the nested run. Its usage
 * counts in the caller's budget and in its own. Its approval requests are answered through the
 * caller's agent. Throws `invalid_argument` for an invalid schema, and for `parameters` without
 * `prompt`.
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
      `The tool "${name}" has "parameters" but no "prompt". Pass "prompt", which makes the agent's prompt from the arguments.`,
    );
  if (output !== undefined) toJsonSchema(output, `the output of tool "${name}"`);
  const start = async (args: unknown, call: ToolRun): Promise<ChildResult> => {
    const { run: parent, signal } = call;
    const prompt = toPrompt
      ? await toPrompt(args, call)
      : (args as InferSchema<PromptParameters>).prompt;
    const agent = await createAgent(args, call);
    // No await between here and the prompt: of two calls with the same agent, the second must
    // fail.
    const releases = parent ? [nest(agent, parent, { ...call, toolName: name })] : [];
    try {
      const running = agent.prompt(prompt, output === undefined ? {} : { output });
      // After prompt(), because an idle agent ignores abort().
      releases.push(onAbort(signal, () => agent.abort()));
      return childResult(await running);
    } finally {
      for (const release of releases) release();
    }
  };
  const toResult = (result: ChildResult): AgentToolResult<AgentToolDetails> =>
    resultOf(result, output !== undefined);
  const tool = defineTool({
    ...about,
    parameters: parameters ?? promptParameters,
    execute: async (args: unknown, call) => toResult(await start(args, call)),
  });
  const nested: NestedTool = {
    start: (toolCallId, args, signal, { run, context, idempotencyKey }) =>
      start(args, { toolCallId, signal, context, idempotencyKey, run, update: () => {} }),
    toResult: (result) => ({ content: [], ...toResult(result) }),
  };
  return { ...tool, nested };
}

function childResult(run: RunResult): ChildResult {
  const { runId, reason, message, output, usage, turns, error } = run;
  const text = message ? messageText(message) : "";
  return {
    runId,
    reason,
    text,
    usage,
    turns,
    ...defined({ output, error: error && toErrorInfo(error) }),
  };
}

/** Returns the result of the nested run. Throws if it failed or gave no answer. */
function resultOf(run: ChildResult, hasOutput: boolean): AgentToolResult<AgentToolDetails> {
  const { error } = run;
  if (!("runId" in run)) throw new BowlineError(run.error.code, run.error.message, run.error);
  const { text: answer, output, runId, reason, turns, usage } = run;
  const isMissing = hasOutput ? output === undefined : answer === "";
  if (isMissing || (error !== undefined && reason !== "budget")) {
    const why = error?.message ?? "The agent gave no answer.";
    const soFar = reason === "aborted" && answer !== "" ? ` Its answer until then:\n${answer}` : "";
    throw new BowlineError(error?.code ?? "empty_response", `${why}${soFar}`);
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
 * Connects the agent's next run to the call that starts it. Returns a function that disconnects
 * them, in case the agent is reused.
 */
function nest(
  agent: Agent,
  parent: RunPort,
  { toolCallId, toolName, signal }: StartingCall,
): () => void {
  if (agent.state.isStreaming)
    throw new BowlineError(
      "invalid_state",
      "This agent is already running. createAgent must return a new agent for each call.",
    );
  const { parentRunId, parentToolCallId, parentToolName, budget, abortGraceMs } = agent;
  Object.assign(agent, {
    parentRunId: parent.runId,
    parentToolCallId: toolCallId,
    parentToolName: toolName,
    budget: budgetWithin(budget, parent.budget),
    // The nested run must end before the caller's own grace period does.
    abortGraceMs: Math.min(abortGraceMs ?? Infinity, parent.abortGraceMs / 2),
  });
  const questions = new Map<string, AbortController>();
  const unsubscribe = agent.subscribe((event) => {
    // An approval request of this run, or one forwarded from a deeper nested run.
    if (event.type === "approval_request") {
      const { approvalId } = event;
      const closed = new AbortController();
      questions.set(approvalId, closed);
      const options = { signal: AbortSignal.any([signal, closed.signal]) };
      parent.waitFor(approvalId, options).then(
        (answer) => agent.answer(approvalId, answer),
        (error: unknown) => {
          // Otherwise the request is closed, which the nested run already knows.
          const { code, message: reason } = toBowlineError(error, "internal_error");
          if (code === "invalid_state") agent.answer(approvalId, { decision: "deny", reason });
        },
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

/** Returns the agent's own budget with the caller's one above it. */
function budgetWithin(own: Partial<SharedBudget> | undefined, parent: SharedBudget): SharedBudget {
  return own ? { ...createBudget(), ...own, parent: budgetWithin(own.parent, parent) } : parent;
}
