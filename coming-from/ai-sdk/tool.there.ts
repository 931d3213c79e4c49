import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { stepCountIs, ToolLoopAgent, tool } from "ai";
import { z } from "zod";

export async function main(baseURL: string): Promise<string> {
  const agent = new ToolLoopAgent({
    model: createOpenAICompatible({ name: "mine", apiKey: "k", baseURL })("m"),
    instructions: "You are brief.",
    tools: {
      weather: tool({
        description: "The weather of a city, now",
        inputSchema: z.object({ city: z.string() }),
        execute: async ({ city }) => ({ city, degrees: 9 }),
      }),
    },
    stopWhen: stepCountIs(5),
  });
  const result = await agent.stream({ prompt: "How warm is Oslo?" });
  let text = "";
  for await (const part of result.fullStream) {
    if (part.type === "error") throw part.error;
    if (part.type === "text-delta") text += part.text;
  }
  return text;
}
