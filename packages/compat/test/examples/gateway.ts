// A gateway's runner: a provider, a list of messages that grows, and one function that runs tools.
import { AnthropicProvider, runAgentTurn, type Message } from "@bowline/compat/gateway";

const weather = {
  name: "get_weather",
  description: "Get current weather for a location",
  inputSchema: {
    type: "object",
    properties: { location: { type: "string" } },
    required: ["location"],
  },
};

const messages: Message[] = [{ role: "user", content: "What's the weather like in Madrid?" }];
await runAgentTurn({
  provider: new AnthropicProvider(process.env.ANTHROPIC_API_KEY ?? ""),
  model: "claude-sonnet-4-5",
  systemPrompt: "Be brief.",
  messages,
  tools: [weather],
  onToolCall: async (_name, input) => `${(input as { location: string }).location}: 20 celsius`,
  onEvent: (event) => {
    if (event.type === "delta") process.stdout.write(event.text);
    if (event.type === "final") console.log(` (${event.usage.inputTokens} tokens in)`);
    if (event.type === "error") console.error(event.message);
  },
});
console.log(messages.length, "messages");
