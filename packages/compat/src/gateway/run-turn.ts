/** The gateway's runner: one chat turn with its tools, on core's loop. */
import { agentLoop, systemClock, type AgentTool, type Model } from "@bowline/core";
import { fromAssistant, toResultBlock, toTranscript, toUsage } from "./messages.ts";
import { toStreamFn } from "./stream-fn.ts";
import type { ChatEvent, Message, ModelProvider } from "./types.ts";

/** The fields of a tool that the runner uses; others are allowed. */
export interface Tool {
  name: string;
  description: string;
  inputSchema: Record<string, unknown>;
}

export interface RunnerOptions {
  provider: ModelProvider;
  model: string;
  systemPrompt: string;
  /** The runner appends calls and results. */
  messages: Message[];
  tools: Tool[];
  /**
   * Not called for calls whose arguments are not a JSON object; the model gets an error instead.
   */
  onEvent: (event: ChatEvent) => void;
  /** Returns the tool's output. A rejection is sent to the model as an error. */
  onToolCall: (name: string, input: unknown, callId: string) => Promise<string>;
  signal?: AbortSignal;
  /**
   * The maximum number of model calls of the turn. Above it the turn ends with an error. Default
   * 50; `Infinity` removes the limit.
   */
  maxModelCalls?: number;
}

/**
 * Calls the model and runs tools until it calls none. A call that cannot run is answered with an
 * error; the other calls of the answer still run. Emits one `final` with the total usage, or one
 * `error`.
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
