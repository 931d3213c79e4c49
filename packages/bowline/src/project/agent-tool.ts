/** The tool `agent`, which gives a task to a sub-agent of the user or the project. */
import {
  BowlineError,
  createAgentTool,
  type Agent,
  type AgentTool,
  type BeforeToolCallResult,
} from "@bowline/core";
import { didYouMean } from "../settings/nearest-name.ts";
import { covers } from "../policy/policy.ts";
import { oneLine } from "../terminal.ts";
import type { SubAgent } from "./sub-agents.ts";
import { ruleText, type ToolRule } from "./tool-rules.ts";

/** What a command supplies: models, keys and approvals are its own. */
export interface SubAgentPorts {
  /** The tools of the caller, from which a sub-agent gets a part. */
  readonly tools: readonly AgentTool[];
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
        tools: toolsFor(definition, ports.tools),
        check: (toolName, args) => refusal(definition, toolName, args),
      });
    },
  });
}

/** Returns the tools that a definition leaves. A sub-agent never starts another one. */
export function toolsFor(
  { tools: only, disallowedTools }: Pick<SubAgent, "tools" | "disallowedTools">,
  all: readonly AgentTool[],
): AgentTool[] {
  const names = (rules: readonly ToolRule[], name: string): ToolRule | undefined =>
    rules.find((rule) => rule.tool === name || rule.tool === "*");
  return all.filter(
    ({ name }) =>
      name !== "agent" &&
      (only === undefined || names(only, name) !== undefined) &&
      !disallowedTools.some((rule) => rule.pattern === undefined && names([rule], name)),
  );
}

/** Returns why a definition excludes a call; undefined if it does not. */
export function refusal(
  { tools: only, disallowedTools }: Pick<SubAgent, "tools" | "disallowedTools">,
  toolName: string,
  args: unknown,
): BeforeToolCallResult | undefined {
  const call = { tool: toolName, args, sessionKey: "" };
  const isOf = ({ tool }: ToolRule): boolean => tool === toolName || tool === "*";
  const isHit = ({ pattern }: ToolRule): boolean => pattern === undefined || covers(pattern, call);
  const isAllowed = only === undefined || only.filter(isOf).some(isHit);
  const denied = disallowedTools.filter(isOf).find(isHit);
  // A command that cannot be parsed may hide what a pattern denies.
  const unclear = disallowedTools.find(
    (rule) => isOf(rule) && rule.pattern !== undefined && !covers("**", call) && !covers("*", call),
  );
  if (isAllowed && denied === undefined && unclear === undefined) return undefined;
  const rule = denied ?? unclear;
  const reason =
    rule === undefined
      ? `This agent may only use ${(only ?? []).map(ruleText).join(", ")}.`
      : `This agent may not use ${ruleText(rule)}.`;
  return { block: true, reason };
}
