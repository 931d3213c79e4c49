/** Agents whose run gets one more message at its first step, as from a program. */
import { Agent, defineTool, type UserMessage } from "@bowline/core";
import { createScriptedModel, scriptedToolCall, type ScriptedStep } from "@bowline/core/testing";

/** The agents' tool `look` steers its run with the content. The model then answers. */
export function steeringAgents(content: UserMessage["content"], answer: ScriptedStep): () => Agent {
  const { model, streamFn } = createScriptedModel([
    { content: [scriptedToolCall("look", {}, "t")] },
    answer,
  ]);
  return () => {
    const agent = new Agent({ model, streamFn });
    const look = defineTool({
      name: "look",
      description: "Looks.",
      parameters: { type: "object", properties: {} } as const,
      execute: () => {
        agent.steer({ role: "user", content, timestamp: 2 });
        return "done";
      },
    });
    agent.state.tools = [look];
    return agent;
  };
}
