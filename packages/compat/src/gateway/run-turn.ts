/** The gateway's runner: one turn of a chat with its tools, over the one loop. */
import { agentLoop, systemClock, type AgentTool, type Model } from "@bowline/core";
import { fromAssistant, toResultBlock, toTranscript, toUsage } from "./messages.ts";
import { toStreamFn } from "./stream-fn.ts";
import type { ChatEvent, Message, ModelProvider } from "./types.ts";

/** Of a tool, what the runner needs; it may have more. */
export interface Tool {
  name: string;
  description: string;
  inputSchema: Record<string, unknown>;
}

export interface RunnerOptions {
  provider: ModelProvider;
  model: string;
  systemPrompt: string;
  /** Calls and results are appended. */
  messages: Message[];
  tools: Tool[];
  /** Calls whose arguments are no JSON object are answered, and no event. */
  onEvent: (event: ChatEvent) => void;
  /** Gives the tool's output. A rejection is told to the model as a failure. */
  onToolCall: (name: string, input: unknown, callId: string) => Promise<string>;
  signal?: AbortSignal;
  /** Model calls of the turn, after which it ends with an error. Default 50; `Infinity` lifts it. */
  maxModelCalls?: number;
}

/**
 * Calls the model, runs tools and goes on, until it asks for none. A call that cannot be run is
 * answered with an error, and the others of its answer run. One `final` with the sum of all usage,
 * or one `error`.
 */
export async function runAgentTurn(options: RunnerOptions): Promise<void> {
  const {
    provider,
    model: id,
    systemPrompt,
    messages,
    tools,
    onEvent,
    onToolCall,
    signal,
    maxModelCalls = 50,
  } = options;
  const model: Model = {
    id,
    name: id,
    api: "provider",
    provider: provider.id,
    baseUrl: "",
    reasoning: false,
    input: ["text"],
  };
  const known = tools.map((tool) => toAgentTool(tool, onToolCall));
  const transcript = toTranscript(messages, systemClock.now());
  const last = transcript.splice(-1);
  const config = {
    ...({
      model,
      toolExecution: "sequential",
      hookTimeoutMs: 0,
      budget: { maxTurns: maxModelCalls },
    } as const),
    convertToLlm: (all: readonly unknown[]) => all as typeof transcript,
  };
  const events = agentLoop(
    last,
    { systemPrompt, messages: transcript, tools: known },
    config,
    signal,
    toStreamFn(provider),
  );
  for await (const event of events) {
    if (event.type === "message_update") {
      const { assistantMessageEvent: said } = event;
      if (said.type === "text_delta") onEvent({ type: "delta", text: said.delta });
      if (said.type === "toolcall_end") {
        const { name, arguments: input, id: callId, argumentsError } = said.toolCall;
        if (argumentsError === undefined) onEvent({ type: "tool_call", name, input, callId });
      }
    } else if (event.type === "turn_end" && event.toolResults.length > 0) {
      messages.push({ role: "assistant", content: fromAssistant(event.message) });
      messages.push({ role: "user", content: event.toolResults.map(toResultBlock) });
    } else if (event.type === "agent_end") {
      const { error } = event;
      if (error !== undefined) onEvent({ type: "error", message: error.message });
      else onEvent({ type: "final", usage: toUsage(event) });
    }
  }
}

function toAgentTool(
  { name, description, inputSchema: parameters }: Tool,
  onToolCall: RunnerOptions["onToolCall"],
): AgentTool {
  return {
    name,
    description,
    parameters,
    execute: async (callId, input) => ({
      content: [{ type: "text", text: await onToolCall(name, input, callId) }],
    }),
  };
}
