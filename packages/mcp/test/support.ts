/** What the tests of servers share: connecting to a server that misbehaves, and calling its tools. */
import { join } from "node:path";
import { Agent, type ToolResultMessage } from "@bowline/core";
import { createScriptedModel, scriptedToolCall } from "@bowline/core/testing";
import { connectMcp, type Mcp, type McpEvent, type McpOptions } from "../src/index.ts";

/** What the server does before a tool is called: see `servers/stdio.mjs`. */
export interface Plan {
  readonly start?: "fails" | "fails-long" | "strict" | "silent" | "ignores-end";
  readonly list?: "never" | "endless" | "restless";
  readonly tools?: readonly unknown[];
  readonly noise?: boolean;
}

/** The entry of a server that misbehaves. */
export function entry(plan: Plan = {}): { command: string; args: string[] } {
  const file = join(import.meta.dirname, "servers/stdio.mjs");
  return { command: process.execPath, args: [file, JSON.stringify(plan)] };
}

export interface Connected extends AsyncDisposable {
  readonly mcp: Mcp;
  readonly events: McpEvent[];
}

/** Connects with short times, and notes the events. */
export async function connect(options: McpOptions): Promise<Connected> {
  const events: McpEvent[] = [];
  const mcp = await connectMcp({
    needsApproval: false,
    ...options,
    limits: { restartDelayMs: 20, closeMs: 1_000, ...options.limits },
    onEvent: (event) => events.push(event),
  });
  return { mcp, events, [Symbol.asyncDispose]: () => mcp.close() };
}

/** Calls a tool as an agent does, and returns its result. */
export async function call(
  mcp: Mcp,
  name: string,
  args: Record<string, unknown> = {},
): Promise<ToolResultMessage & { readonly text: string }> {
  const { model, streamFn } = createScriptedModel([
    { content: [scriptedToolCall(name, args)], stopReason: "toolUse" },
    "done",
  ]);
  const agent = new Agent({ model, streamFn, tools: mcp.tools });
  await agent.prompt("go");
  const result = agent.state.messages.find((message) => message.role === "toolResult");
  if (result?.role !== "toolResult") throw new Error("the call has no result");
  const text = result.content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
  return { ...result, text };
}
