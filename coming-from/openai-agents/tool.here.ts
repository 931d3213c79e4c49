import { Agent, defineTool, getModel } from "@bowline/core";
import { z } from "zod";

export async function main(baseUrl: string): Promise<string | undefined> {
  const agent = new Agent({
    systemPrompt: "You are brief.",
    model: getModel("mine", "m", { baseUrl }),
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
  const { text, error } = await agent.prompt("How warm is Oslo?");
  if (error) throw error;
  return text;
}
