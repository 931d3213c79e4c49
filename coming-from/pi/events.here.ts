import { Agent, defineTool, getModel } from "@bowline/core";
import { Type } from "typebox";

export async function main(baseUrl: string): Promise<string> {
  const agent = new Agent({
    getApiKey: () => "k",
    systemPrompt: "You are brief.",
    model: getModel("mine", "m", { baseUrl, reasoning: false }),
    tools: [
      defineTool({
        name: "weather",
        label: "Weather",
        description: "The weather of a city, now",
        parameters: Type.Object({ city: Type.String() }),
        execute: () => "9 degrees",
      }),
    ],
  });
  let text = "";
  agent.subscribe((event) => {
    if (event.type !== "message_update") return;
    const { assistantMessageEvent: part } = event;
    if (part.type === "text_delta") text += part.delta;
  });
  await agent.prompt("How warm is Oslo?");
  if (agent.state.errorMessage) throw new Error(agent.state.errorMessage);
  return text;
}
