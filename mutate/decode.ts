/** Reads a stream with this library. The real loop runs its calls with tools that record them. */
import { agentLoop, type AgentTool } from "@bowline/core/agent";
import { streamAnthropicMessages } from "@bowline/core/anthropic-messages";
import { streamGoogleGenerate } from "@bowline/core/google-generate";
import { streamOpenaiChat } from "@bowline/core/openai-chat";
import { streamOpenaiResponses } from "@bowline/core/openai-responses";
import { messageText, type AssistantMessage, type StreamFn } from "@bowline/core";
import type { Wire } from "./acceptors/accept.ts";

const streams: { readonly [wire in Wire]: StreamFn } = {
  "openai-chat": streamOpenaiChat,
  "anthropic-messages": streamAnthropicMessages,
  "openai-responses": streamOpenaiResponses,
  "google-generate": streamGoogleGenerate,
};

export interface Run {
  readonly id: string;
  readonly name: string;
  readonly arguments: unknown;
}

export interface Decoded {
  readonly text: string;
  readonly stopReason: AssistantMessage["stopReason"];
  /** The error's code and message. */
  readonly error: string | undefined;
  /** The calls that ran. */
  readonly runs: readonly Run[];
}

/**
 * Runs one turn of an agent whose model answers with these bytes. `tools` are the names of its
 * tools.
 */
export async function decode(
  wire: Wire,
  body: Uint8Array<ArrayBuffer>,
  tools: readonly string[],
): Promise<Decoded> {
  const runs: Run[] = [];
  const context = {
    systemPrompt: "",
    messages: [],
    tools: tools.map((name) => recorder(name, runs)),
  };
  const prompt = { role: "user", content: "Go.", timestamp: 0 } as const;
  const loop = agentLoop([prompt], context, configOf(wire, body), undefined, streams[wire]);
  const messages = await loop.result();
  const answer = messages.find((message) => message.role === "assistant") as AssistantMessage;
  const { stopReason, error } = answer;
  return {
    text: messageText(answer),
    stopReason,
    error: error && `${error.code}: ${error.message}`,
    runs,
  };
}

function recorder(name: string, runs: Run[]): AgentTool {
  return {
    name,
    description: name,
    parameters: { type: "object" },
    execute: async (id, args) => {
      runs.push({ id, name, arguments: args });
      return { content: [] };
    },
  };
}

type Config = Parameters<typeof agentLoop>[2];

function configOf(wire: Wire, body: Uint8Array<ArrayBuffer>): Config {
  const headers = { "content-type": "text/event-stream" };
  return {
    model: {
      id: "mutated",
      name: "mutated",
      api: wire,
      provider: "mutated",
      baseUrl: "http://127.0.0.1",
      reasoning: true,
      input: ["text"],
    },
    apiKey: "none",
    maxRetries: 0,
    fetch: async () => new Response(body, { headers }),
    convertToLlm: (messages) => messages,
    shouldStopAfterTurn: () => true,
  };
}
