import { Agent, defineTool, getModel, requireApproval } from "@bowline/core";
import { z } from "zod";

export async function main(baseUrl: string): Promise<string | undefined> {
  const agent = new Agent({
    model: getModel("mine", "m", { baseUrl }),
    tools: [
      defineTool({
        name: "weather",
        description: "The weather of a city, now",
        parameters: z.object({ city: z.string() }),
        needsApproval: true,
        execute: async ({ city }) => ({ city, degrees: 9 }),
      }),
    ],
    beforeToolCall: requireApproval({ timeoutMs: 60_000 }),
  });
  agent.subscribe((event) => {
    if (event.type === "approval_request") agent.answer(event.approvalId, { decision: "allow" });
  });
  const { text, error } = await agent.prompt("How warm is Oslo?");
  if (error) throw error;
  return text;
}
