/** An agent tool is typed by its schema. Only the compiler reads this file. */
import { Type } from "typebox";
import { z } from "zod";
import { createAgentTool, type Agent, type AgentTool } from "../../src/agent/index.ts";

declare const agent: Agent;
const base = { name: "a", description: "" };

export const plain: AgentTool = createAgentTool({ ...base, createAgent: () => agent });
export const usual = createAgentTool({
  ...base,
  prompt: ({ prompt }) => prompt.trim(),
  createAgent(args, call) {
    // @ts-expect-error a text is no number
    args.prompt.toFixed();
    // @ts-expect-error there is no such argument
    void args.topic;
    call.signal.throwIfAborted();
    return call.toolCallId ? agent : Promise.resolve(agent);
  },
});

export const fromZod = createAgentTool({
  ...base,
  parameters: z.object({ topic: z.string(), depth: z.number().optional() }),
  output: z.object({ found: z.boolean() }),
  prompt(args) {
    // @ts-expect-error it may be absent
    args.depth.toFixed();
    return args.topic;
  },
  createAgent(args) {
    // @ts-expect-error there is no such argument
    void args.prompt;
    return args.topic ? agent : agent;
  },
});

export const fromTypebox = createAgentTool({
  ...base,
  parameters: Type.Object({ topic: Type.String() }),
  prompt: ({ topic }) => topic.trim(),
  createAgent: () => agent,
});

export const fromLiteral = createAgentTool({
  ...base,
  parameters: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
  prompt: ({ n }) => n.toFixed(),
  createAgent: ({ n }) => (n > 1 ? agent : agent),
});
export const inList: AgentTool[] = [usual, fromZod, fromTypebox, fromLiteral];

// @ts-expect-error parameters of its own need a prompt made from them
createAgentTool({ ...base, parameters: z.object({ n: z.number() }), createAgent: () => agent });
createAgentTool({
  ...base,
  parameters: z.object({ n: z.number() }),
  // @ts-expect-error a number is no prompt
  prompt: ({ n }) => n,
  createAgent: () => agent,
});
