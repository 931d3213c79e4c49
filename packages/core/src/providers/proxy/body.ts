/** What a client asks of a proxy, made from a model call. `call.ts` reads it. */
import type { Context, Message, Tool } from "../../llm/message.ts";
import type { Model, StreamOptions } from "../../llm/model.ts";
import { toJsonSchema } from "../../schema.ts";

/** What travels of the options: never a key, a header, a signal or a function. */
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

/** What travels of the model: where it is and what that place wants is the proxy's own. */
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
 * The body of a request. Throws `invalid_argument` for a tool whose schema cannot be written down.
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
  const { details: _, ...rest } = message; // for the client's program, never for a model
  return rest;
}

function toProxyTool({ name, description, parameters }: Tool): Tool {
  return {
    name,
    description,
    parameters: toJsonSchema(parameters, `the tool ${JSON.stringify(name)}`),
  };
}

/** The options that may travel, of any object. */
export function pickOptions(options: object): StreamOptions {
  return pick(options, optionNames);
}

/** What may travel of a model. */
export function pickModel(model: object): Partial<Model> {
  return pick(model, modelNames);
}

function pick(from: object, names: readonly string[]): object {
  const values = from as Record<string, unknown>;
  return Object.fromEntries(
    names.filter((name) => values[name] !== undefined).map((name) => [name, values[name]]),
  );
}
