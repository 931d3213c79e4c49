// A Worker in which an agent makes a tool call over each wire, with the wire's stream function and
// with the default one. `scripts/published-worker.mjs` bundles it with the packed packages and
// starts the model server.
import { Agent } from "@bowline/core";
import { Agent as AgentOfOneWire, defineTool } from "@bowline/core/agent";
import { streamAnthropicMessages } from "@bowline/core/anthropic-messages";
import { streamGoogleGenerate } from "@bowline/core/google-generate";
import { streamOpenaiChat } from "@bowline/core/openai-chat";
import { streamOpenaiResponses } from "@bowline/core/openai-responses";

const wires = [
  { api: "openai-chat", path: "v1", streamFn: streamOpenaiChat },
  { api: "anthropic-messages", path: "v1", streamFn: streamAnthropicMessages },
  { api: "openai-responses", path: "v1", streamFn: streamOpenaiResponses },
  { api: "google-generate", path: "v1beta", streamFn: streamGoogleGenerate },
];

const weather = defineTool({
  name: "weather",
  description: "The weather in a city",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  execute: ({ city }) => `4 °C and snow in ${city}`,
});

export default {
  async test(_controller, { origin }) {
    for (const { api, path, streamFn } of wires) {
      const model = {
        id: "any",
        name: "any",
        api,
        provider: "local",
        baseUrl: `${origin}/${path}`,
        reasoning: false,
        input: ["text"],
      };
      const options = { initialState: { model, tools: [weather] }, apiKey: "dummy", maxRetries: 0 };
      await turn(`${api} by its own entry`, new AgentOfOneWire({ ...options, streamFn }));
      await turn(`${api} by the main entry`, new Agent(options));
    }
  },
};

async function turn(what, agent) {
  const { reason, error, tools, message } = await agent.prompt("What is the weather in Oslo?");
  const text = message?.content.map((part) => part.text).join("");
  const found = [reason, error?.message, tools.map(({ outcome }) => outcome).join(), text];
  const expected = ["done", undefined, "finished", "Snow in Oslo."];
  if (JSON.stringify(found) !== JSON.stringify(expected))
    throw new Error(`${what}: ${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`);
  console.log(`a turn over ${what}`);
}
