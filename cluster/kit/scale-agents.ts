/** The agent of `cluster/scale.ts`: one tool, which answers at once. */
import { Agent, defineTool } from "@bowline/core";

export const agents = (): Agent =>
  new Agent({
    model: {
      id: "mock",
      name: "mock",
      api: "openai-chat",
      provider: "mock",
      baseUrl: `${process.env.OUTSIDE}/v1`,
      reasoning: false,
      input: ["text"],
    },
    apiKey: "none",
    tools: [
      defineTool({
        name: "look",
        description: "look",
        replay: "safe",
        parameters: { type: "object", properties: { script: { type: "string" } } } as const,
        execute: () => Promise.resolve("y".repeat(200)),
      }),
    ],
  });
