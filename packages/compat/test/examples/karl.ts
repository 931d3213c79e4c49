// karl's loop: a generator of events that returns the last message.
import { agentLoop, type ToolDefinition } from "@bowline/compat/karl";

const weather: ToolDefinition = {
  name: "get_weather",
  description: "Get current weather for a location",
  parameters: {
    type: "object",
    properties: { location: { type: "string" } },
    required: ["location"],
  },
  execute: async ({ location }) => ({
    content: [{ type: "text", text: `${location}: 20 celsius` }],
  }),
};

const events = agentLoop("Be brief.", "What's the weather like in Madrid?", [weather], {
  model: "openai/gpt-4o",
  baseUrl: "https://openrouter.ai/api/v1",
  apiKey: process.env.OPENROUTER_API_KEY ?? "",
  apiFormat: "openai",
});
for await (const event of events) {
  if (event.type === "tool_execution_end") console.log(event.toolName, event.result.content);
  if (event.type === "text_end") console.log(event.text);
}
