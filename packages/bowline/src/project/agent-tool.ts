/** The tool `agent`, which gives a task to a sub-agent of the user or the project. */
import {
  BowlineError,
  createAgentTool,
  type Agent,
  type AgentTool,
  type BeforeToolCallResult,
} from "@bowline/core";
import { coversTool } from "../policy/server-tool.ts";
import { didYouMean } from "../settings/nearest-name.ts";
import { oneLine } from "../terminal.ts";
import type { SubAgent } from "./sub-agents.ts";
import { refusalOf } from "./tool-limits.ts";
import type { ToolRule } from "./tool-rules.ts";

/** What a command supplies: models, keys and approvals are its own. */
export interface SubAgentPorts {
  /** Returns the tools of the caller as they are now. A sub-agent gets a part of them. */
  readonly tools: () => readonly AgentTool[];
  /**
   * Creates the agent for one call. `check` refuses calls outside of the definition; it runs
   * before the caller's own approval.
   */
  readonly createAgent: (start: SubAgentStart) => Agent | Promise<Agent>;
}

export interface SubAgentStart {
  readonly definition: SubAgent;
  readonly tools: readonly AgentTool[];
  readonly check: (toolName: string, args: unknown) => BeforeToolCallResult | undefined;
}

const MAX_LISTED = 20_000;

export function createSubAgentTool(agents: readonly SubAgent[], ports: SubAgentPorts): AgentTool {
  const names = agents.map(({ name }) => name);
  const list = agents
    .map(({ name, description }) => `- ${name}: ${oneLine(description, 600)}`)
    .join("\n")
    .slice(0, MAX_LISTED);
  return createAgentTool({
    name: "agent",
    description: `Gives a task to another agent and returns its answer. Agents:\n${list}`,
    parameters: {
      type: "object",
      properties: {
        name: { type: "string", description: "The agent's name." },
        task: {
          type: "string",
          description: "The complete task. The agent sees nothing else of this conversation.",
        },
      },
      required: ["name", "task"],
    } as const,
    prompt: ({ task }) => task,
    createAgent({ name }) {
      const definition = agents.find((one) => one.name === name);
      if (definition === undefined)
        throw new BowlineError(
          "invalid_argument",
          `There is no agent ${JSON.stringify(name)}.${didYouMean(name, names)} Known ones: ${names.join(", ")}.`,
        );
      return ports.createAgent({
        definition,
        tools: toolsFor(definition, ports.tools()),
        check: (toolName, args) => refusalOf("agent", definition, toolName, args),
      });
    },
  });
}

/** Returns the tools that a definition leaves. A sub-agent never starts another one. */
function toolsFor(
  { tools: only, disallowedTools }: Pick<SubAgent, "tools" | "disallowedTools">,
  all: readonly AgentTool[],
): AgentTool[] {
  const names = (rules: readonly ToolRule[], name: string): ToolRule | undefined =>
    rules.find((rule) => coversTool(rule.tool, name));
  return all.filter(
    ({ name }) =>
      name !== "agent" &&
      (only === undefined || names(only, name) !== undefined) &&
      !disallowedTools.some((rule) => rule.pattern === undefined && names([rule], name)),
  );
}
