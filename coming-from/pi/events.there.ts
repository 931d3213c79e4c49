import { Agent } from "@earendil-works/pi-agent-core";
import { Type } from "@earendil-works/pi-ai";
import { streamSimple } from "@earendil-works/pi-ai/compat";

export async function main(baseUrl: string): Promise<string> {
  const agent = new Agent({
    streamFn: streamSimple,
    getApiKey: () => "k",
    initialState: {
      systemPrompt: "You are brief.",
      model: {
        id: "m",
        name: "m",
        api: "openai-completions",
        provider: "mine",
        baseUrl,
        reasoning: false,
        input: ["text"],
        cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
        contextWindow: 128_000,
        maxTokens: 4096,
      },
      tools: [
        {
          name: "weather",
          label: "Weather",
          description: "The weather of a city, now",
          parameters: Type.Object({ city: Type.String() }),
          execute: async () => ({
            content: [{ type: "text", text: "9 degrees" }],
            details: undefined,
          }),
        },
      ],
    },
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
