/** The agent of `cluster/scale.ts`: one tool, which answers at once. */
import { Agent, defineTool } from "@bowline/core";
import { mockModel } from "./mock-model.ts";

export const agents = (): Agent =>
  new Agent({
    model: mockModel(process.env.OUTSIDE ?? ""),
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
