import { Agent, defineTool, getModel } from "@bowline/core";
import { Type } from "typebox";

const weather = defineTool({
  name: "get_weather",
  description: "The weather of a city, now",
  parameters: Type.Object({ city: Type.String() }),
  execute: async ({ city }) => `${city}: 9 °C, rain`,
});

const agent = new Agent({
  model: getModel("openai", "gpt-5-mini"),
  tools: [weather],
  getApiKey: () => process.env.OPENAI_API_KEY,
});
agent.subscribe((event) => {
  if (event.type === "tool_execution_end") console.log(`${event.toolName}: ${event.durationMs} ms`);
});

const run = await agent.prompt("Do I need an umbrella in Oslo?");
console.log(run.reason, run.text, run.usage);
