/** Runs one tool call without a model, through the loop, so that its checks apply. */
import { Agent, type AgentTool } from "@bowline/core/agent";
import type { ToolCall, ToolResultMessage } from "@bowline/core";
import { wholeAnswer } from "./transcript.ts";

/** Never rejects: failures become an error result. `context` is passed to the tool. */
export async function runCall(
  tools: AgentTool[],
  call: ToolCall,
  context?: unknown,
): Promise<ToolResultMessage> {
  const agent = new Agent({
    tools,
    context,
    shouldStopAfterTurn: () => true,
    streamFn: (model) => wholeAnswer([call], "toolUse", model, 0),
  });
  const { messages } = await agent.prompt(call.name);
  return messages.at(-1) as ToolResultMessage;
}
