/** `needsApproval` is typed by the tool's schema. Only the compiler reads this file. */
import { z } from "zod";
import { Agent, defineTool, type AgentTool } from "../../src/agent/index.ts";

const base = { name: "a", description: "", execute: () => "ok" };
const parameters = z.object({ euros: z.number(), to: z.string().optional() });

export const always = defineTool({ ...base, parameters, needsApproval: true });
export const byArguments = defineTool({
  ...base,
  parameters,
  needsApproval({ euros, to }, { signal, context }) {
    // @ts-expect-error it may be absent
    to.trim();
    // @ts-expect-error the context's type is not known
    context.user.trim();
    signal.throwIfAborted();
    return euros > 50 && "It is dear.";
  },
});
export const later = defineTool({
  ...base,
  parameters,
  needsApproval: async ({ euros }) => Promise.resolve(euros.toFixed() === "50"),
});
export const withContext = defineTool<typeof parameters, unknown, { readonly limit: number }>({
  ...base,
  parameters,
  needsApproval: ({ euros }, { context }) => euros > context.limit,
});
export const inList: AgentTool[] = [always, byArguments, later, withContext];
export const agent = new Agent({
  context: { limit: 3 },
  initialState: { tools: [withContext, byArguments] },
});

// @ts-expect-error a number is no decision
defineTool({ ...base, parameters, needsApproval: ({ euros }) => euros });
