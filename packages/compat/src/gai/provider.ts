/** gai's providers: a model, or two custom functions. */
import { streamByProtocol, systemClock, toJsonSchema } from "@bowline/core";
import type { Model, StreamFn } from "@bowline/core";
import { toContent } from "../parts.ts";
import { standInModel, wholeAnswer } from "../transcript.ts";
import { fromTranscript, hasToolCalls, system } from "./message.ts";
import type { CompletionResponse, Message } from "./message.ts";
import { errorToString, type GaiError, type Result } from "./result.ts";
import type { HttpRequest, HttpResponse, Runtime } from "./runtime.ts";
import type { Tool } from "./tool.ts";

export interface CompletionRequest {
  readonly model: string;
  /** The whole history; the system prompt is the first message. */
  readonly messages: readonly Message[];
  readonly tools: readonly Pick<Tool, "name" | "description" | "schemaJson">[];
  readonly maxTokens?: number;
  readonly temperature?: number;
}

/** A request before a runtime sends it. */
export type ProviderRequest = Omit<HttpRequest, "signal">;

type Parsed = Result<CompletionResponse, GaiError>;

/** The two functions of a custom provider. Both may be asynchronous. */
export interface ProviderFunctions {
  readonly buildRequest: (request: CompletionRequest) => ProviderRequest | Promise<ProviderRequest>;
  readonly parseResponse: (response: HttpResponse) => Parsed | Promise<Parsed>;
}

/**
 * A provider: a model on one of core's wires, or the custom functions `buildRequest` and
 * `parseResponse`.
 */
export interface Provider extends Partial<ProviderFunctions> {
  readonly name: string;
  /** If absent, a run fails with `missing_model`, unless the provider has both functions. */
  readonly model?: Model;
  readonly apiKey?: string;
  /** Default: the wire that the model names. */
  readonly streamFn?: StreamFn;
}

/**
 * Returns the stream function of a provider. `onParsed` is called after each call, with its error
 * if it failed.
 */
export function streamFnOf(
  provider: Provider,
  runtime: Runtime,
  onParsed: (error?: GaiError) => void,
): StreamFn {
  if (!isOwn(provider)) return provider.streamFn ?? streamByProtocol;
  return async (model, { systemPrompt = "", messages, tools = [] }, options) => {
    const { signal = new AbortController().signal, maxTokens, temperature } = options;
    const { clock = systemClock } = options;
    const history = fromTranscript(messages);
    const request = await provider.buildRequest({
      model: model.id,
      messages: systemPrompt === "" ? history : [system(systemPrompt), ...history],
      tools: tools.map(({ name, description, parameters }) => {
        return { name, description, schemaJson: toJsonSchema(parameters, `tool "${name}"`) };
      }),
      ...(maxTokens !== undefined && { maxTokens }),
      ...(temperature !== undefined && { temperature }),
    });
    const sent = await runtime.send({ ...request, signal });
    const parsed = sent.ok ? await provider.parseResponse(sent.value) : sent;
    onParsed(parsed.ok ? undefined : parsed.error);
    if (!parsed.ok) throw new Error(errorToString(parsed.error));
    const { content, stopReason, usage, model: responseModel } = parsed.value;
    const isCut = /^(?:length|max_?tokens)$/i.test(stopReason);
    const end = hasToolCalls(parsed.value) ? "toolUse" : "stop";
    return wholeAnswer(toContent(content), isCut ? "length" : end, model, clock.now(), {
      usage,
      responseModel,
    });
  };
}

/** Returns the model of a run; undefined if the provider needs one and has none. */
export function modelOf(provider: Provider): Model | undefined {
  const { name, model } = provider;
  // A runtime returns whole responses.
  if (model) return { ...model, compat: { ...model.compat, noStreaming: true } };
  return isOwn(provider) ? standInModel(name) : undefined;
}

function isOwn(provider: Provider): provider is Provider & ProviderFunctions {
  return provider.buildRequest !== undefined && provider.parseResponse !== undefined;
}
