/** Decides how the calls of an answer run. */
import { defined } from "../../json-value.ts";
import { toolCallsOf, type AssistantMessage, type ToolCall } from "../../llm/message.ts";
import type { CallPlan } from "../contract/step.ts";
import type { AgentTool } from "../contract/tool.ts";
import type { Run } from "./run.ts";

/** Returns the tools that the calls of the last answer use, by name. */
export function toolsOf(run: Run): ReadonlyMap<string, AgentTool> {
  return new Map((run.declared ?? run.context.tools)?.map((tool) => [tool.name, tool]));
}

/** Returns the plan by the current settings, for the calls of the answer that are still open. */
export function planOf(
  run: Run,
  message: AssistantMessage,
  calls: readonly ToolCall[] = toolCallsOf(message),
): CallPlan {
  const tools = toolsOf(run);
  const { toolExecution, maxParallelTools: width } = run.config;
  return {
    isSequential: calls.some(
      ({ name }) => (tools.get(name)?.executionMode ?? toolExecution) === "sequential",
    ),
    ...defined({ width }),
  };
}
