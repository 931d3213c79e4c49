import { Agent, getModel } from "@bowline/core";
import { z } from "zod";

export async function main(baseUrl: string): Promise<unknown> {
  const compat = { structuredOutput: "json_schema" } as const;
  const agent = new Agent({ model: getModel("mine", "m", { baseUrl, compat }) });
  const { output, error } = await agent.prompt("Where is a berth free?", {
    output: z.object({ harbour: z.string(), free: z.boolean() }),
  });
  if (error) throw error;
  return output;
}
