// The agents of the cluster behind examples/programs/use-chat-cluster.ts: as the other examples have.
import { Agent, defineTool, getModel } from "@bowline/core";
import { z } from "zod";

const pay = defineTool({
  name: "pay",
  description: "Pays a bill",
  parameters: z.object({ to: z.string(), euros: z.number() }),
  needsApproval: true,
  execute: ({ to, euros }) => `Paid ${euros} EUR to ${to}.`,
});

export const agents = () =>
  new Agent({
    model: getModel("openai", "gpt-5-mini", { baseUrl: process.env.MODEL_URL }),
    tools: [pay],
  });
