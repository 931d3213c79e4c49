/** The agents of the drill, which the cluster's nodes import: `agents` as `createCluster` takes it. */
import { Agent, defineTool, requireApproval, type AgentTool } from "@bowline/core";
import { resultOf } from "./outside/ledger.ts";
import type { ToolRequest } from "./outside/tool-server.ts";
import { THRIFTY_TOKENS, tools } from "./task.ts";
import { mockModel } from "../kit/mock-model.ts";

/** The environment variable with the address of the model and the tools. */
const OUTSIDE = "DRILL_OUTSIDE";
/** Above the size up to which the journal keeps a result: it is stored apart. */
const LARGE = 270_000;
const APPROVAL_MS = 10 * 60_000;

const outside = process.env[OUTSIDE] ?? "";

const model = mockModel(outside);

interface Args {
  readonly id: string;
  readonly ms: number;
}

const parameters = {
  type: "object",
  properties: { id: { type: "string" }, ms: { type: "number" } },
  required: ["id", "ms"],
} as const;

function createTool({
  name,
  replay,
  needsApproval,
  isLarge,
}: (typeof tools)["n" | "s" | "a" | "l"]): AgentTool {
  return defineTool({
    name,
    description: `The tool ${name}.`,
    parameters,
    replay,
    needsApproval,
    async execute({ id, ms }: Args, { signal, idempotencyKey: key }) {
      const request: ToolRequest = { name, id, key, pid: process.pid, ms };
      const response = await fetch(`${outside}/tool`, {
        method: "POST",
        body: JSON.stringify(request),
        signal,
      });
      await response.text();
      return `${resultOf(name, id)}${isLarge ? "x".repeat(LARGE) : ""}`;
    },
  });
}

function createAgent(budget: { readonly maxTokens?: number }): Agent {
  return new Agent({
    model,
    apiKey: "none",
    systemPrompt: "Work.",
    tools: Object.values(tools).map((tool) => createTool(tool)),
    beforeToolCall: requireApproval({ needed: () => false, timeoutMs: APPROVAL_MS }),
    maxRetries: 0,
    budget,
  });
}

export const agents = {
  worker: () => createAgent({}),
  thrifty: () => createAgent({ maxTokens: THRIFTY_TOKENS }),
};
