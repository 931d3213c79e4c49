import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, Output } from "ai";
import { z } from "zod";

export async function main(baseURL: string): Promise<unknown> {
  const provider = createOpenAICompatible({
    name: "mine",
    apiKey: "k",
    baseURL,
    supportsStructuredOutputs: true,
  });
  const { output } = await generateText({
    model: provider("m"),
    prompt: "Where is a berth free?",
    output: Output.object({ schema: z.object({ harbour: z.string(), free: z.boolean() }) }),
  });
  return output;
}
