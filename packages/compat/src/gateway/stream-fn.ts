/**
 * Converts any provider of this shape to a stream function, so that it can be used wherever a model
 * can.
 */
import {
  BowlineError,
  EventStream,
  isBowlineError,
  systemClock,
  toErrorInfo,
  toJsonSchema,
  type AssistantContent,
  type AssistantMessage,
  type AssistantMessageEvent,
  type Model,
  type StreamFn,
  type ToolCall,
} from "@bowline/core";
import { toToolCall } from "../transcript.ts";
import { fromTranscript } from "./messages.ts";
import { streamOf } from "./provider.ts";
import type { ChatEvent, ModelProvider } from "./types.ts";

type FinalUsage = Extract<ChatEvent, { type: "final" }>["usage"];

export function toStreamFn(provider: ModelProvider): StreamFn {
  return streamOf(provider) ?? streamChat(provider);
}

function streamChat(provider: ModelProvider): StreamFn {
  return (
    model,
    { systemPrompt = "", messages, tools = [] },
    { signal, maxTokens, clock = systemClock },
  ) =>
    new EventStream<AssistantMessageEvent, AssistantMessage>(async (push, stop) => {
      const answer = new ProviderAnswer(model, clock.now(), (event) => push([event]));
      try {
        const events = provider.chat({
          model: model.id,
          systemPrompt,
          messages: fromTranscript(messages),
          tools: tools.map(({ name, description, parameters }) => {
            return { name, description, inputSchema: toJsonSchema(parameters, `tool "${name}"`) };
          }),
          signal: stop,
          ...(maxTokens !== undefined && { maxTokens }),
        });
        await answer.read(events, stop);
      } catch (thrown) {
        answer.fail(isBowlineError(thrown) ? thrown : failure(thrown, stop));
      }
      return answer.message;
    }, signal);
}

/** Builds an answer from a provider's events. */
class ProviderAnswer {
  readonly message: AssistantMessage;
  readonly #content: AssistantContent[] = [];
  readonly #emit: (event: AssistantMessageEvent) => void;

  constructor(
    { api, provider, id: model }: Model,
    timestamp: number,
    emit: (event: AssistantMessageEvent) => void,
  ) {
    const from = { api, provider, model, timestamp };
    const about = { role: "assistant", usage: {}, stopReason: "stop" } as const;
    this.message = { ...about, content: this.#content, ...from };
    this.#emit = emit;
    emit({ type: "start", attempt: 1, ...from });
  }

  /** Throws the provider's error, and `stream_truncated` if `final` is missing. */
  async read(events: AsyncIterable<ChatEvent>, stop: AbortSignal): Promise<void> {
    for await (const event of events) {
      if (stop.aborted) throw new BowlineError("aborted", "The request was aborted.");
      if (event.type === "error") throw new BowlineError("server_error", event.message);
      if (event.type === "delta") this.#addText(event.text);
      else if (event.type === "tool_call") this.#addCall(event);
      else return this.#end(event.usage);
    }
    throw new BowlineError("stream_truncated", "The provider ended without a final event.");
  }

  fail(error: BowlineError): void {
    const reason = error.code === "aborted" ? "aborted" : "error";
    Object.assign(this.message, {
      stopReason: reason,
      errorMessage: error.message,
      error: toErrorInfo(error),
    });
    this.#emit({ type: "error", attempt: 1, reason, error: this.message });
  }

  #addText(text: string): void {
    const last = this.#content.at(-1);
    if (last?.type === "text") last.text += text;
    else {
      this.#content.push({ type: "text", text });
      this.#emit({ type: "text_start", attempt: 1, contentIndex: this.#content.length - 1 });
    }
    const contentIndex = this.#content.length - 1;
    this.#emit({ type: "text_delta", attempt: 1, contentIndex, delta: text });
  }

  #addCall({ callId: id, name, input }: Extract<ChatEvent, { type: "tool_call" }>): void {
    this.#closeText();
    const toolCall = callOf(id, name, input);
    this.#content.push({ ...toolCall });
    const contentIndex = this.#content.length - 1;
    this.#emit({ type: "toolcall_start", attempt: 1, contentIndex, id, name });
    this.#emit({ type: "toolcall_end", attempt: 1, contentIndex, toolCall: { ...toolCall } });
  }

  #closeText(): void {
    const last = this.#content.at(-1);
    if (last?.type !== "text") return;
    const contentIndex = this.#content.length - 1;
    this.#emit({ type: "text_end", attempt: 1, contentIndex, content: last.text });
  }

  #end({ inputTokens: input, outputTokens: output }: FinalUsage): void {
    this.message.usage = { input, output };
    this.#closeText();
    const reason = this.#content.some(({ type }) => type === "toolCall") ? "toolUse" : "stop";
    this.message.stopReason = reason;
    this.#emit({ type: "done", attempt: 1, reason, message: this.message });
  }
}

/** A JavaScript provider may pass the model's raw arguments: objects are used, text is parsed. */
function callOf(id: string, name: string, input: unknown): ToolCall {
  if (typeof input === "object" && input !== null && !Array.isArray(input))
    return { type: "toolCall", id, name, arguments: input as Record<string, unknown> };
  // Refuse null instead of treating it as empty arguments.
  return toToolCall(id, name, typeof input === "string" ? input : JSON.stringify(input ?? null));
}

function failure(thrown: unknown, { aborted }: AbortSignal): BowlineError {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new BowlineError(aborted ? "aborted" : "stream_function_failed", message, {
    cause: thrown,
  });
}
