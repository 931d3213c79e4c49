import { Agent, OpenAIChatCompletionsModel, run, setTracingDisabled, tool } from "@openai/agents";
import OpenAI from "openai";
import { z } from "zod";

export async function main(baseURL: string): Promise<string | undefined> {
  setTracingDisabled(true);
  const agent = new Agent({
    name: "assistant",
    model: new OpenAIChatCompletionsModel(new OpenAI({ apiKey: "k", baseURL }), "m"),
    tools: [
      tool({
        name: "weather",
        description: "The weather of a city, now",
        parameters: z.object({ city: z.string() }),
        needsApproval: true,
        execute: async ({ city }) => ({ city, degrees: 9 }),
      }),
    ],
  });
  let result = await run(agent, "How warm is Oslo?");
  while (result.interruptions.length > 0) {
    for (const call of result.interruptions) result.state.approve(call);
    result = await run(agent, result.state);
  }
  return result.finalOutput;
}
