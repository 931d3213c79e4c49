/** Helpers for several tests of core. */
import { Agent, defineTool, type AgentEvent, type AgentTool } from "../src/agent/index.ts";
import type { AssistantContent, UserMessage } from "../src/llm/message.ts";
import type { AgentOptions } from "../src/agent/index.ts";
import { toWireJson } from "../src/providers/wire-json.ts";
import {
  createScriptedModel,
  scriptedToolCall,
  type ScriptedModel,
  type ScriptedStep,
} from "../src/testing/index.ts";

export interface Rig {
  readonly agent: Agent;
  readonly script: ScriptedModel;
  readonly events: AgentEvent[];
}

/** An agent with a scripted model, whose events are recorded. */
export function rig(
  steps: readonly ScriptedStep[],
  tools: AgentTool[] = [],
  options: AgentOptions = {},
): Rig {
  const script = createScriptedModel(steps, { deltaLength: 1000 });
  const agent = new Agent({
    initialState: { model: script.model, tools },
    streamFn: script.streamFn,
    ...options,
  });
  const events: AgentEvent[] = [];
  agent.subscribe((event) => void events.push(event));
  return { agent, script, events };
}

/** One event as a short word for expected sequences: its type and what distinguishes it. */
export function short(event: AgentEvent): string {
  switch (event.type) {
    case "message_start":
    case "message_end":
      return `${event.type}:${event.message.role === "toolResult" ? `result ${event.message.toolCallId}` : event.message.role}`;
    case "message_update":
      return `message_update:${event.assistantMessageEvent.type}`;
    case "tool_execution_start":
    case "tool_execution_update":
      return `${event.type}:${event.toolCallId}`;
    case "tool_execution_end":
      return `${event.type}:${event.toolCallId}${event.isError ? " error" : ""}`;
    case "agent_end":
      return `agent_end:${event.reason}`;
    case "agent_start":
    case "turn_start":
    case "turn_end":
    case "request_retry":
    case "model_failover":
    case "approval_request":
    case "compaction_start":
    case "compaction_end":
      return event.type;
    case "approval_answer":
      return `${event.type}:${event.decision}`;
  }
}

/** A tool that runs `work` and returns its text. */
export function tool(
  name: string,
  work: (signal: AbortSignal) => string | Promise<string>,
  extra: Partial<AgentTool> = {},
): AgentTool {
  const made = defineTool({
    name,
    description: `The tool ${name}.`,
    parameters: { type: "object", properties: {} },
    execute: (_args, run) => work(run.signal),
  });
  return { ...made, ...extra };
}

/** The wires of `streamByProtocol`, by the name that models have in `api`. */
export const apis: readonly string[] = [
  "openai-chat",
  "anthropic-messages",
  "openai-responses",
  "google-generate",
];

/** The body of a request as its server parses it. */
export function asRead(body: unknown): Record<string, unknown> {
  return JSON.parse(toWireJson(body)) as Record<string, unknown>;
}

/** A user message. */
export const hello: UserMessage = { role: "user", content: "Hello", timestamp: 1 };

/** An answer of the scripted model that calls one tool without arguments. */
export const call = (name: string, id: string = name): { content: AssistantContent[] } => ({
  content: [scriptedToolCall(name, {}, id)],
});
