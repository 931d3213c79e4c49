/** The agent of the tests: its model and its tools are outside of the processes that run it. */
import { Agent, defineTool } from "@bowline/core";
import { mockModel } from "./mock-model.ts";

interface Args {
  readonly script: string;
  readonly ms?: number;
}

const parameters = {
  type: "object",
  properties: {
    script: { type: "string" },
    ms: { type: "number" },
    // For `bash`, which runs nothing: rules judge the command.
    command: { type: "string" },
  },
  required: ["script"],
} as const;

/** `outside` is the address of the model and of what tools call. */
export function createScriptedAgent(outside: string, systemPrompt = ""): Agent {
  const model = mockModel(outside);
  const tool = (name: string, needsApproval: boolean) =>
    defineTool({
      name,
      description: name,
      parameters,
      ...(needsApproval && { needsApproval }),
      async execute({ script, ms = 0 }: Args, { signal, idempotencyKey: key }) {
        const body = JSON.stringify({ script, name, key, ms });
        const response = await fetch(`${outside}/tool`, { method: "POST", body, signal });
        await response.text();
        return `${name} done`;
      },
    });
  return new Agent({
    model,
    apiKey: "none",
    systemPrompt,
    tools: [tool("work", false), tool("asks", true), tool("bash", true)],
    maxRetries: 0,
  });
}
