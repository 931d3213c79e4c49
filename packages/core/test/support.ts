/** What several tests of core need. */
import { setImmediate as nextTick } from "node:timers/promises";
import {
  Agent,
  defineTool,
  type AgentEvent,
  type AgentMessage,
  type AgentTool,
} from "../src/agent/index.ts";
import { isBowlineError, type ErrorCode } from "../src/errors.ts";
import type { AssistantContent, UserMessage } from "../src/llm/message.ts";
import type { Clock } from "../src/clock.ts";
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

/** An agent with a scripted model, whose events are noted. */
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

/** One event as a short word, for golden sequences: the kind, and what tells it from its like. */
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

/** A tool that runs `work` and answers with its text. */
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

/** A clock that moves only when told to. */
export class ManualClock implements Clock {
  #now = 1_000_000;
  #timers: { at: number; fire: () => void }[] = [];

  now(): number {
    return this.#now;
  }

  setTimer(ms: number, fire: () => void): () => void {
    const timer = { at: this.#now + ms, fire };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  get pending(): number {
    return this.#timers.length;
  }

  /** Moves on by `ms`, firing what is due in order and letting what it woke run. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (;;) {
      await settle();
      const due = this.#timers
        .filter((timer) => timer.at <= end)
        .toSorted((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      this.#now = due.at;
      this.#timers = this.#timers.filter((timer) => timer !== due);
      due.fire();
    }
    this.#now = end;
    await settle();
  }
}

/** Lets everything that is ready run. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 5; i++) await nextTick();
}

/** A promise that is settled from outside. */
export function deferred<T = void>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((settled) => (resolve = settled));
  return { promise, resolve };
}

/** How many random transcripts a property of requests is tried with: more by `npm run requests`. */
export function requestRuns(usual: number): number {
  return Number(process.env.BOWLINE_REQUEST_RUNS ?? usual);
}

/** The wires that `streamByProtocol` speaks, each by the name that models carry in `api`. */
export const apis: readonly string[] = [
  "openai-chat",
  "anthropic-messages",
  "openai-responses",
  "google-generate",
];

/** The body of a request as its server reads it. */
export function asRead(body: unknown): Record<string, unknown> {
  return JSON.parse(toWireJson(body)) as Record<string, unknown>;
}

/** A user's message. */
export const hello: UserMessage = { role: "user", content: "Hello", timestamp: 1 };

/** An answer of the scripted model that calls one tool without arguments. */
export const call = (name: string, id: string = name): { content: AssistantContent[] } => ({
  content: [scriptedToolCall(name, {}, id)],
});

/** Whether a thrown value is ours, with this code. */
export const code =
  (expected: ErrorCode) =>
  (error: unknown): boolean =>
    isBowlineError(error) && error.code === expected;

const textOf = ({ role, content }: AgentMessage): string =>
  `${role}: ${typeof content === "string" ? content : content.map((part) => ("text" in part ? part.text : part.type)).join("")}`;

/** Messages as `role: text`, for comparing. */
export const texts = (messages: readonly AgentMessage[]): string[] => messages.map(textOf);
