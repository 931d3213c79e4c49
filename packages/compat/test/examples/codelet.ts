// codelet's runner: a provider, a registry of tools, and a history that the next run continues.
import { defineTool } from "@bowline/core";
import { ClaudeProvider, Runner, ToolRegistry } from "@bowline/compat/codelet";

const weather = defineTool({
  name: "get_weather",
  description: "Get current weather for a location",
  parameters: {
    type: "object",
    properties: { location: { type: "string" } },
    required: ["location"],
  },
  execute: ({ location }) => `${location}: 20 celsius`,
});

const claude = new ClaudeProvider(process.env.ANTHROPIC_API_KEY ?? "", "claude-sonnet-4-5");
const runner = Runner.withProvider(claude, { tools: ToolRegistry.default([weather]) });
for (const { role, content } of await runner.run("What's the weather like in Madrid?"))
  console.log(role, content);
