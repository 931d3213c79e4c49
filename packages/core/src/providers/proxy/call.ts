/**
 * Parses a proxy request. Accepts only JSON of the expected shape, and takes only the fields named
 * here.
 */
import { BowlineError, errorText } from "../../errors.ts";
import { checkJson } from "../../json-schema.ts";
import type { JsonSchema } from "../../json-value.ts";
import type { Context } from "../../llm/message.ts";
import type { Model, StreamOptions } from "../../llm/model.ts";
import { pickModel, pickOptions } from "./body.ts";

export interface ProxyCall {
  /** The model as the client named it, with an empty `baseUrl`. */
  readonly model: Model;
  readonly context: Context;
  readonly options: StreamOptions;
}

/** Parses a request body. Throws `invalid_request` with the reason, for a 400 response. */
export function parseProxyBody(text: string): ProxyCall {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (error) {
    throw refuse(`The body is not valid JSON: ${errorText(error)}`);
  }
  const result = checkJson(bodySchema, body);
  if (result.issues !== undefined) {
    const words = result.issues
      .slice(0, 5)
      .map(({ path, message }) => `${path || "the body"} ${message}`);
    throw refuse(`The body is not a valid model call: ${words.join("; ")}`);
  }
  const {
    model,
    context,
    options = {},
  } = result.value as { model: Model; context: Context; options?: StreamOptions };
  const { systemPrompt, messages, tools } = context;
  return {
    model: {
      name: model.id,
      reasoning: false,
      input: ["text"],
      ...pickModel(model),
      baseUrl: "",
    } as Model,
    context: {
      ...(systemPrompt !== undefined && { systemPrompt }),
      messages,
      ...(tools && {
        tools: tools.map(({ name, description, parameters, strict, providerTool }) => ({
          name,
          description,
          parameters,
          strict,
          ...(providerTool && { providerTool }),
        })),
      }),
    },
    options: pickOptions(options),
  };
}

function refuse(message: string): BowlineError {
  return new BowlineError("invalid_request", message, { status: 400 });
}

const string: JsonSchema = { type: "string" };
const boolean: JsonSchema = { type: "boolean" };
const number: JsonSchema = { type: "number" };
const positive: JsonSchema = { type: "number", minimum: 0 };
const record: JsonSchema = { type: "object" };
const list = (items: JsonSchema): JsonSchema => ({ type: "array", items });
const oneOf = (...values: string[]): JsonSchema => ({ enum: values });
const object = (
  required: Record<string, JsonSchema>,
  optional: Record<string, JsonSchema> = {},
): JsonSchema => ({
  type: "object",
  properties: { ...required, ...optional },
  required: Object.keys(required),
});
const kind = (
  type: string,
  fields: Record<string, JsonSchema>,
  optional?: Record<string, JsonSchema>,
): JsonSchema => object({ type: { const: type }, ...fields }, optional);

const strings = (...names: string[]): Record<string, JsonSchema> =>
  Object.fromEntries(names.map((name) => [name, string]));
const textPart = kind("text", { text: string }, { textSignature: string });
const media = [
  kind("image", { data: string, mimeType: string }),
  kind("image", { url: string }, { mimeType: string }),
  kind("file", { data: string, mimeType: string }, { name: string }),
  kind("file", { url: string, mimeType: string }, { name: string }),
];
const userParts = list({ anyOf: [textPart, ...media] });
const assistantParts = list({
  anyOf: [
    textPart,
    kind(
      "thinking",
      { thinking: string },
      { thinkingSignature: string, redacted: boolean, field: string },
    ),
    kind(
      "toolCall",
      { id: string, name: string, arguments: record },
      { argumentsText: string, argumentsError: string, thoughtSignature: string },
    ),
    kind("opaque", { protocol: string }),
    kind("source", {}, { ...strings("url", "title", "name", "citedText"), textIndex: number }),
    ...media,
  ],
});
const message: JsonSchema = {
  anyOf: [
    object({ role: { const: "user" }, content: { anyOf: [string, userParts] } }),
    object({
      role: { const: "assistant" },
      content: assistantParts,
      api: string,
      provider: string,
      model: string,
      stopReason: oneOf("stop", "toolUse", "length", "error", "aborted"),
    }),
    object({
      role: { const: "toolResult" },
      toolCallId: string,
      toolName: string,
      content: userParts,
      isError: boolean,
    }),
  ],
};

const bodySchema: JsonSchema = object(
  {
    model: object(
      { id: string, provider: string, api: string },
      {
        name: string,
        reasoning: boolean,
        input: list(oneOf("text", "image", "pdf", "audio", "video")),
        contextWindow: positive,
        maxTokens: positive,
      },
    ),
    context: object(
      { messages: list(message) },
      {
        systemPrompt: string,
        tools: list(
          object(
            { name: string, description: string, parameters: record },
            {
              strict: boolean,
              providerTool: object({ api: string, entry: record }, { beta: string }),
            },
          ),
        ),
      },
    ),
  },
  {
    options: object(
      {},
      {
        temperature: number,
        maxTokens: positive,
        reasoning: oneOf("minimal", "low", "medium", "high", "xhigh", "max"),
        thinkingBudgets: { type: "object", additionalProperties: positive },
        toolChoice: { anyOf: [oneOf("auto", "none", "required"), object({ name: string })] },
        output: object({ schema: record }, { name: string, strict: boolean }),
        sessionId: string,
        cacheRetention: oneOf("none", "short", "long"),
        metadata: record,
        extraBody: record,
        timeouts: { type: "object", additionalProperties: positive },
        maxRetries: positive,
        maxRetryTimeMs: positive,
        maxRetryDelayMs: positive,
        retryAfterOutput: boolean,
      },
    ),
  },
);
