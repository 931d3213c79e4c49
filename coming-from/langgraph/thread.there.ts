import { MemorySaver } from "@langchain/langgraph";
import { ChatOpenAI } from "@langchain/openai";
import { createAgent, tool } from "langchain";
import { z } from "zod";

export async function main(baseURL: string): Promise<string> {
  const weather = tool(async ({ city }) => `${city}: 9 degrees`, {
    name: "weather",
    description: "The weather of a city, now",
    schema: z.object({ city: z.string() }),
  });
  const agent = createAgent({
    model: new ChatOpenAI({ model: "m", apiKey: "k", configuration: { baseURL } }),
    tools: [weather],
    checkpointer: new MemorySaver(),
  });
  const thread = { configurable: { thread_id: "ann" }, recursionLimit: 10 };
  await agent.invoke({ messages: [{ role: "user", content: "How warm is Oslo?" }] }, thread);
  const { messages } = await agent.invoke(
    { messages: [{ role: "user", content: "How many have I asked?" }] },
    thread,
  );
  return String(messages.at(-1)?.content);
}
