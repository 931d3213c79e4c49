import { Agent, OpenAIChatCompletionsModel, run, setTracingDisabled, tool } from "@openai/agents";
import OpenAI from "openai";
import { z } from "zod";

export async function main(baseURL: string): Promise<string | undefined> {
  setTracingDisabled(true);
  const agent = new Agent({
    name: "assistant",
    instructions: "You are brief.",
    model: new OpenAIChatCompletionsModel(new OpenAI({ apiKey: "k", baseURL }), "m"),
    tools: [
      tool({
        name: "weather",
        description: "The weather of a city, now",
        parameters: z.object({ city: z.string() }),
        execute: async ({ city }) => ({ city, degrees: 9 }),
      }),
    ],
  });
  const result = await run(agent, "How warm is Oslo?", { maxTurns: 5 });
  return result.finalOutput;
}
