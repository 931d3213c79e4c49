/** The tools of a run: those of Bowline and those that a project adds. */
import type { Agent, AgentTool } from "@bowline/core";
import { UsageError } from "../command-error.ts";
import { discoverModel, type Discovered } from "../models/discover.ts";
import { withNestedInstructions } from "../project/nested-instructions.ts";
import type { Permissions } from "../policy/permissions.ts";
import type { Hooks } from "../hooks/hooks.ts";
import type { Servers } from "../mcp/servers.ts";
import type { Project } from "../project/project.ts";
import { projectTools } from "../project/project-tools.ts";
import type { SubAgentStart } from "../project/agent-tool.ts";
import { createAgent, type Approver, type RunSetup } from "../record/run-setup.ts";
import { didYouMean } from "../settings/nearest-name.ts";
import { createTools, type Sandbox } from "../tools/index.ts";
import { coversTool, isServerTool } from "../policy/server-tool.ts";

interface ToolChoice {
  /** Names from options or settings. Empty: all. */
  readonly only: readonly string[];
  readonly without: readonly string[];
}

export interface RunToolsOptions extends ToolChoice {
  readonly project: Project;
  readonly env: NodeJS.ProcessEnv;
  /** The MCP servers, whose tools may change. */
  readonly servers: Pick<Servers, "tools" | "prefixes">;
  readonly hooks: Pick<Hooks, "tools">;
  /** The folder for the full text of long output. */
  readonly outputFolder: string;
  readonly sandbox: Sandbox;
  /** Returns the path patterns that a tool's searches omit. */
  readonly hidden?: (tool: string) => readonly string[];
  /** Creates an agent for one call of a sub-agent. */
  readonly startSubAgent: (start: SubAgentStart) => Promise<Agent>;
}

/**
 * Returns a function that returns the tools as they are now: those of servers come and go. Throws
 * `UsageError` for a name that no tool has.
 */
export function createRunTools(options: RunToolsOptions): () => AgentTool[] {
  const { project, env, outputFolder, sandbox, hidden, servers, hooks, startSubAgent } = options;
  const { directory: root } = project;
  const tools = createTools({ root, env, outputFolder, sandbox, ...(hidden && { hidden }) });
  const own = withNestedInstructions(tools, project);
  const extra = project.tools({
    tools: () => hooks.tools(chosen([...own, ...servers.tools], options)),
    createAgent: startSubAgent,
  });
  const all = [...own, ...extra];
  checkChoice(options, all);
  return () => hooks.tools(chosen([...all, ...servers.tools], options));
}

/** Tools of a server are known only when it is ready, so their names are checked by its name. */
function checkChoice(
  { only, without, servers }: Pick<RunToolsOptions, "only" | "without" | "servers">,
  tools: readonly AgentTool[],
): void {
  const names = tools.map(({ name }) => name);
  const prefixes = servers.prefixes.map((prefix) => `${prefix}__*`);
  for (const name of [...only, ...without]) {
    if (names.includes(name) || projectTools.has(name)) continue;
    if (isServerTool(name) && prefixes.some((one) => one === name || coversTool(one, name)))
      continue;
    throw new UsageError(
      `There is no tool ${JSON.stringify(name)}.${didYouMean(name, names)} Known ones: ${[...names, ...prefixes].join(", ")}.`,
    );
  }
}

/** Lets the tools of a project run without a question, unless a rule names them. */
export function withoutAskingForProjectTools(
  approve: Approver,
  permissions: Permissions,
): Approver {
  return async (context, signal, asked) => {
    const { args, toolCall } = context;
    const isFree =
      asked === undefined &&
      projectTools.has(toolCall.name) &&
      permissions.judge({ tool: toolCall.name, args }).rule === undefined;
    return isFree ? undefined : approve(context, signal, asked);
  };
}

function chosen(tools: readonly AgentTool[], { only, without }: ToolChoice): AgentTool[] {
  const isIn = (names: readonly string[], tool: string): boolean =>
    names.some((name) => coversTool(name, tool));
  return tools.filter(
    ({ name }) => (only.length === 0 || isIn(only, name)) && !isIn(without, name),
  );
}

/** What a sub-agent shares with the run that starts it. */
export interface SubAgentHost {
  readonly project: Project;
  readonly setup: () => RunSetup;
  readonly found: Discovered;
  readonly approve: Approver;
  readonly env: NodeJS.ProcessEnv;
}

/** Creates the agent of a definition: its own prompt, tools, model and number of turns. */
export async function createSubAgent(
  { definition, tools, check }: SubAgentStart,
  { project, setup, found, approve, env }: SubAgentHost,
): Promise<Agent> {
  const { model, maxTurns, systemPrompt: system } = definition;
  const own = model === undefined ? found : await discoverModel({ model }, env);
  const { apiKey, fetch } = own;
  const start = setup();
  const names = tools.map(({ name }) => name);
  return createAgent(
    {
      ...start,
      model: own.model,
      systemPrompt: project.systemPrompt({ tools: names, system }),
      budget: { maxTurns: Math.min(maxTurns ?? Infinity, start.budget.maxTurns ?? Infinity) },
    },
    {
      tools,
      beforeToolCall: async (context, signal) =>
        check(context.toolCall.name, context.args) ?? approve(context, signal),
      ...(apiKey !== undefined && { apiKey }),
      ...(fetch !== undefined && { fetch }),
    },
  );
}
