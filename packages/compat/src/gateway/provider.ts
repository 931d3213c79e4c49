/** Seed 003's two providers, over our wires. */
import { getModel, systemClock, type StreamFn, type StreamOptions } from "@bowline/core";
import { streamAnthropicMessages } from "@bowline/core/anthropic-messages";
import { streamOpenaiChat } from "@bowline/core/openai-chat";
import { toTranscript } from "./messages.ts";
import type { ChatEvent, ChatParams, ModelProvider } from "./types.ts";

/** What a provider may be told beside its key. */
export interface ProviderOptions extends Pick<
  StreamOptions,
  "fetch" | "maxRetries" | "clock" | "createId"
> {
  readonly baseUrl?: string;
}

abstract class WireProvider implements ModelProvider {
  abstract id: string;
  protected abstract readonly streamFn: StreamFn;
  readonly #apiKey: string;
  readonly #options: ProviderOptions;

  constructor(apiKey: string, options: ProviderOptions = {}) {
    this.#apiKey = apiKey;
    this.#options = options;
  }

  /** A failure is the last event; nothing is thrown. */
  chat(params: ChatParams): AsyncIterable<ChatEvent> {
    return ask(this.streamFn, this.id, this.#apiKey, this.#options, params);
  }
}

export class AnthropicProvider extends WireProvider {
  id = "anthropic";
  protected readonly streamFn: StreamFn = streamAnthropicMessages;
}

export class OpenAIProvider extends WireProvider {
  id = "openai";
  protected readonly streamFn: StreamFn = streamOpenaiChat;
}

async function* ask(
  streamFn: StreamFn,
  vendor: string,
  apiKey: string,
  { baseUrl, ...options }: ProviderOptions,
  { model: id, systemPrompt, messages, tools, signal, maxTokens }: ChatParams,
): AsyncGenerator<ChatEvent> {
  const { clock = systemClock } = options;
  // The seed asks Chat Completions, whatever OpenAI's row says.
  const api = vendor === "openai" ? { api: "openai-chat" } : {};
  const model = getModel(vendor, id, { ...api, ...(baseUrl !== undefined && { baseUrl }) });
  const context = {
    systemPrompt,
    messages: toTranscript(messages, clock.now()),
    tools: tools.map(({ inputSchema, ...tool }) => ({ ...tool, parameters: inputSchema })),
  };
  const given = { ...(signal && { signal }), ...(maxTokens !== undefined && { maxTokens }) };
  for await (const event of await streamFn(model, context, { ...options, ...given, apiKey })) {
    if (event.type === "text_delta") yield { type: "delta", text: event.delta };
    else if (event.type === "toolcall_end") {
      const { id: callId, name, arguments: input, argumentsError } = event.toolCall;
      if (argumentsError !== undefined) {
        yield { type: "error", message: `The call of ${name} cannot be run: ${argumentsError}` };
        return;
      }
      yield { type: "tool_call", name, input, callId };
    } else if (event.type === "done") {
      const { input = 0, output = 0 } = event.message.usage;
      yield { type: "final", usage: { inputTokens: input, outputTokens: output } };
    } else if (event.type === "error")
      yield { type: "error", message: event.error.errorMessage ?? "The call failed." };
  }
}
