/** One tool call without a model: the loop runs it, so that its checks are the same. */
import { Agent, type AgentTool } from "@bowline/core/agent";
import type { ToolCall, ToolResultMessage } from "@bowline/core";
import { wholeAnswer } from "./transcript.ts";

/** Never rejects: whatever went wrong is an error result. `context` is handed to the tool. */
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
