/** Encodes a model call as the body of a proxy request. `call.ts` reads it. */
import type { Context, Message, Tool } from "../../llm/message.ts";
import type { Model, StreamOptions } from "../../llm/model.ts";
import { toJsonSchema } from "../../schema.ts";

/** The options that are sent. Keys, headers, signals and functions never are. */
const optionNames = [
  "temperature",
  "maxTokens",
  "reasoning",
  "thinkingBudgets",
  "toolChoice",
  "output",
  "sessionId",
  "cacheRetention",
  "metadata",
  "extraBody",
  "timeouts",
  "maxRetries",
  "maxRetryTimeMs",
  "maxRetryDelayMs",
  "retryAfterOutput",
] as const satisfies readonly (keyof StreamOptions)[];

/** The model fields that are sent. The address and its settings are the proxy's own. */
const modelNames = [
  "id",
  "name",
  "api",
  "provider",
  "reasoning",
  "input",
  "contextWindow",
  "maxTokens",
] as const satisfies readonly (keyof Model)[];

/**
 * Returns the request body. Throws `invalid_argument` for a tool whose schema cannot be serialised.
 */
export function toProxyBody(
  model: Model,
  context: Context,
  options: StreamOptions,
): Record<string, unknown> {
  const { systemPrompt, messages, tools = [] } = context;
  return {
    model: pickModel(model),
    context: {
      ...(systemPrompt !== undefined && { systemPrompt }),
      messages: messages.map(withoutDetails),
      ...(tools.length > 0 && { tools: tools.map(toProxyTool) }),
    },
    options: pickOptions(options),
  };
}

function withoutDetails(message: Message): Message {
  if (message.role !== "toolResult" || message.details === undefined) return message;
  const { details: _, ...rest } = message; // for the client's program only
  return rest;
}

function toProxyTool({ name, description, parameters, strict, providerTool }: Tool): Tool {
  return {
    ...(providerTool && { providerTool }),
    name,
    description,
    parameters: toJsonSchema(parameters, `the tool ${JSON.stringify(name)}`),
    strict, // left out of the JSON if undefined
  };
}

/** Returns the options that may be sent. */
export function pickOptions(options: object): StreamOptions {
  return pick(options, optionNames);
}

/** Returns the model fields that may be sent. */
export function pickModel(model: object): Partial<Model> {
  return pick(model, modelNames);
}

function pick(from: object, names: readonly string[]): object {
  const values = from as Record<string, unknown>;
  return Object.fromEntries(
    names.filter((name) => values[name] !== undefined).map((name) => [name, values[name]]),
  );
}
