import { Agent, defineTool, getModel } from "@bowline/core";
import { z } from "zod";

export async function main(baseUrl: string): Promise<string> {
  const agent = new Agent({
    model: getModel("mine", "m", { baseUrl }),
    systemPrompt: "You are brief.",
    tools: [
      defineTool({
        name: "weather",
        description: "The weather of a city, now",
        parameters: z.object({ city: z.string() }),
        execute: async ({ city }) => ({ city, degrees: 9 }),
      }),
    ],
    budget: { maxTurns: 5 },
  });
  const run = agent.stream("How warm is Oslo?");
  let text = "";
  for await (const event of run) {
    if (event.type !== "message_update") continue;
    const { assistantMessageEvent: part } = event;
    if (part.type === "text_delta") text += part.delta;
  }
  const { error } = await run.result();
  if (error) throw error;
  return text;
}
