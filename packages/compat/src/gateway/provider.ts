/** The gateway's two providers, on core's wires. */
import {
  getModel,
  systemClock,
  type Context,
  type Model,
  type StreamFn,
  type StreamOptions,
} from "@bowline/core";
import { streamAnthropicMessages } from "@bowline/core/anthropic-messages";
import { streamOpenaiChat } from "@bowline/core/openai-chat";
import { toTranscript, toUsage } from "./messages.ts";
import type { ChatEvent, ChatParams, ModelProvider } from "./types.ts";

/** Options of a provider besides its key. */
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
  /** The last model. What its server refuses is remembered by the object. */
  #model: Model | undefined;

  constructor(apiKey: string, options: ProviderOptions = {}) {
    this.#apiKey = apiKey;
    this.#options = options;
  }

  /** Yields the events of an answer. A failure is the last event; nothing is thrown. */
  async *chat(params: ChatParams): AsyncGenerator<ChatEvent> {
    const { model, systemPrompt, messages, tools, signal, maxTokens } = params;
    const { clock = systemClock } = this.#options;
    const context = {
      systemPrompt,
      messages: toTranscript(messages, clock.now()),
      tools: tools.map(({ inputSchema, ...tool }) => ({ ...tool, parameters: inputSchema })),
    };
    const given = { ...(signal && { signal }), ...(maxTokens !== undefined && { maxTokens }) };
    for await (const event of await this.#stream(model, context, given)) {
      if (event.type === "text_delta") yield { type: "delta", text: event.delta };
      else if (event.type === "toolcall_end") {
        const { id: callId, name, arguments: input, argumentsError } = event.toolCall;
        if (argumentsError !== undefined) {
          yield { type: "error", message: `The call of ${name} cannot be run: ${argumentsError}` };
          return;
        }
        yield { type: "tool_call", name, input, callId };
      } else if (event.type === "done") yield { type: "final", usage: toUsage(event.message) };
      else if (event.type === "error")
        yield { type: "error", message: event.error.errorMessage ?? "The call failed." };
    }
  }

  /** Returns the wire behind `chat`; undefined if a subclass overrides `chat`. */
  static streamOf(provider: ModelProvider): StreamFn | undefined {
    if (!(provider instanceof WireProvider) || provider.chat !== WireProvider.prototype.chat)
      return undefined;
    return ({ id }, context, options) => provider.#stream(id, context, options);
  }

  #stream(id: string, context: Context, options: StreamOptions): ReturnType<StreamFn> {
    const { baseUrl, ...own } = this.#options;
    if (this.#model?.id !== id) {
      // OpenAI's provider uses Chat Completions, unlike core's default for OpenAI.
      const api = this.id === "openai" ? { api: "openai-chat" } : {};
      this.#model = getModel(this.id, id, { ...api, ...(baseUrl !== undefined && { baseUrl }) });
    }
    return this.streamFn(this.#model, context, { ...options, ...own, apiKey: this.#apiKey });
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

/**
 * Returns the wire of one of the two providers above. It carries data that `chat` events cannot:
 * text of malformed arguments, thinking, images.
 */
export const streamOf: (provider: ModelProvider) => StreamFn | undefined = (provider) =>
  WireProvider.streamOf(provider);
