// Two ways to send a message to a running agent. A steering message is delivered after the tools of
// the turn, before the next model call. A follow-up is delivered when the agent would otherwise
// stop.
import { Agent, defineTool, messageText } from "@bowline/core";
import { createScriptedModel, scriptedToolCall } from "@bowline/core/testing";

const { model, streamFn } = createScriptedModel([
  { content: [scriptedToolCall("search", { for: "rope" })] },
  "Blue ropes: a sheet, a halyard.",
  "Both are polyester.",
]);

const search = defineTool({
  name: "search",
  description: "Searches the locker",
  parameters: { type: "object", properties: { for: { type: "string" } }, required: ["for"] },
  execute: async () => {
    // While the tool runs, the person types.
    agent.steer({ role: "user", content: "Only the blue ones.", timestamp: Date.now() });
    agent.followUp({ role: "user", content: "And what are they made of?", timestamp: Date.now() });
    return "12 ropes";
  },
});

const agent = new Agent({ model, tools: [search], streamFn });
agent.subscribe((event) => {
  if (event.type !== "message_end" || event.message.role === "toolResult") return;
  const text = messageText(event.message);
  if (text !== "") console.log(`${event.message.role}: ${text}`);
});

await agent.prompt("Which ropes do we have?");

/* Prints:
user: Which ropes do we have?
user: Only the blue ones.
assistant: Blue ropes: a sheet, a halyard.
user: And what are they made of?
assistant: Both are polyester.
*/
