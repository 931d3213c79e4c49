import { Agent, defineTool, getModel } from "@bowline/core";
import { createMemoryStore, resumeSession } from "@bowline/core/session";
import { z } from "zod";

export async function main(baseUrl: string): Promise<string> {
  const weather = defineTool({
    name: "weather",
    description: "The weather of a city, now",
    parameters: z.object({ city: z.string() }),
    execute: ({ city }) => `${city}: 9 degrees`,
  });
  const store = createMemoryStore();
  async function ask(text: string): Promise<string> {
    const model = getModel("mine", "m", { baseUrl });
    const agent = new Agent({ model, tools: [weather], budget: { maxTurns: 5 } });
    const { session } = await resumeSession(store, "ann", agent, { create: true });
    const run = await agent.prompt(text);
    await session.close();
    return run.text;
  }
  await ask("How warm is Oslo?");
  return ask("How many have I asked?");
}
