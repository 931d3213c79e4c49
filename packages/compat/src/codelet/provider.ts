/**
 * codelet's provider: one method. Any model can be used as a provider, and any provider as a model.
 */
import {
  systemClock,
  type Model,
  type StreamFn,
  type StreamOptions,
  streamByProtocol,
  complete,
  getModel,
} from "@bowline/core";
import { toContent } from "../parts.ts";
import { wholeAnswer } from "../transcript.ts";
import * as shape from "./message.ts";
import { toDefinition, type ToolDefinition } from "./tool-registry.ts";

export interface LlmProvider {
  /** Resolves with one answer to the whole conversation. Rejects if there is none. */
  completeWithTools(
    messages: readonly shape.Message[],
    tools: readonly ToolDefinition[],
    signal?: AbortSignal,
  ): Promise<shape.CompletionResponse>;
}

/** A provider for a model on any stream function. Rejects with a `BowlineError`. */
export class ModelProvider implements LlmProvider {
  readonly model: Model;
  readonly #options: StreamOptions;
  readonly #streamFn: StreamFn;

  constructor(model: Model, options: StreamOptions = {}, streamFn: StreamFn = streamByProtocol) {
    this.model = model;
    this.#options = options;
    this.#streamFn = streamFn;
  }

  async completeWithTools(
    messages: readonly shape.Message[],
    tools: readonly ToolDefinition[],
    signal?: AbortSignal,
  ): Promise<shape.CompletionResponse> {
    const { clock = systemClock } = this.#options;
    const context = {
      messages: messages.flatMap((message) => shape.toTranscript(message, clock.now())),
      tools: tools.map(({ inputSchema, ...tool }) => ({ ...tool, parameters: inputSchema })),
    };
    const options = { ...this.#options, ...(signal && { signal }) };
    const answer = await complete(this.model, context, options, this.#streamFn);
    const reasons = { stop: "endTurn", toolUse: "toolUse", length: "maxTokens" } as const;
    const { stopReason } = answer as { readonly stopReason: keyof typeof reasons };
    return { ...shape.toContents(answer), stopReason: reasons[stopReason] };
  }
}

/** A provider for Claude, without streaming. */
export class ClaudeProvider extends ModelProvider {
  constructor(
    apiKey: string,
    model: string,
    { baseUrl, ...options }: StreamOptions & { baseUrl?: string } = {},
  ) {
    const where = { ...(baseUrl !== undefined && { baseUrl }), compat: { noStreaming: true } };
    super(getModel("anthropic", model, where), { ...options, apiKey });
  }
}

/** Converts a provider to a stream function for the loop. Its errors end the run. */
export function toStreamFn(provider: LlmProvider): StreamFn {
  return async (model, { messages, tools = [] }, { signal, clock = systemClock }) => {
    const history = shape.fromTranscript(messages);
    const definitions = tools.map(toDefinition);
    const response = await provider.completeWithTools(history, definitions, signal);
    const { content, stopReason } = response;
    const original = shape.originalOf(response);
    const reason = shape.hasToolCall(content) ? "toolUse" : "stop";
    const said = original?.content ?? toContent(content.map(shape.toPart));
    const end = stopReason === "maxTokens" ? "length" : reason;
    return wholeAnswer(said, end, model, clock.now(), original);
  };
}
