/**
 * The Chat Completions wire for servers with their own dialect. It encodes a request as the
 * reference defines it, then adapts it by the model's `compat`. It is a separate module, so that
 * pages without need for a dialect do not load it.
 */
import { asRecord, defined, list } from "../../json-value.ts";
import type { Context, Tool } from "../../llm/message.ts";
import type {
  AssistantMessageEventStream,
  Model,
  StreamFn,
  StreamOptions,
  ThinkingLevel,
} from "../../llm/model.ts";
import { encodeOutput, toolSchema } from "../adapt-schema.ts";
import type { Protocol, WireRequest } from "../protocol.ts";
import { createStreamFn } from "../stream.ts";
import { allowedChoice } from "../tool-names.ts";
import { arrangeMessages } from "./arrange.ts";
import { toReference } from "./foreign-chunks.ts";
import { createLearning } from "./learn.ts";
import type { WireMessage } from "./messages.ts";
import { encode as encodeReference } from "./request.ts";
import { createTaggedReader } from "./tagged-reader.ts";

export const openaiCompatible: Protocol = {
  api: "openai-chat",
  transcript: "messages",
  encode,
  ...createLearning(),
  createReader(writer, facts) {
    const reader = createTaggedReader(facts.compat ?? {}, writer, facts);
    return {
      event: (data, name) => reader.event(toReference(data), name),
      done: () => reader.done?.(),
      end: () => reader.end(),
    };
  },
};

/**
 * Makes one model call on this wire in the server's dialect, part of which it learns from the
 * server's refusals. Never throws or rejects: every failure is the stream's last event.
 */
export const streamOpenaiCompatible: (
  model: Model,
  context: Context,
  options?: StreamOptions,
) => AssistantMessageEventStream = createStreamFn(openaiCompatible) satisfies StreamFn;

function encode(
  model: Model,
  context: Context,
  options: StreamOptions,
  continued = false,
): WireRequest {
  const { compat = {} } = model;
  const { url, headers, body } = encodeReference(
    model,
    context,
    adaptOptions(options, model, context),
    continued,
  );
  const messages = list(body.messages) as WireMessage[];
  const format = encodeOutput(model, options, body.tools !== undefined);
  const key = cacheKeyOf(options);
  for (const [index, wire] of list(body.tools).entries()) {
    const { parameters, strict } = toolSchema((context.tools as Tool[])[index] as Tool, model);
    Object.assign((wire as WireMessage).function as object, { parameters }, strict && { strict });
  }
  return {
    url,
    headers: { ...(compat.cacheKeyHeader && key && { [compat.cacheKeyHeader]: key }), ...headers },
    body: defined({
      ...body,
      ...(compat.noStreaming && { stream: undefined, stream_options: undefined }),
      ...(compat.noMetadata && { metadata: undefined }),
      ...(compat.toolsForHistory && body.tools === undefined && historyTools(messages)),
      ...(compat.cacheKeyField && key && { [compat.cacheKeyField]: key }),
      response_format: format && { type: "json_schema", json_schema: format },
      messages: arrangeMessages(messages, compat),
    }),
  };
}

/** Maps levels to the nearest of the three efforts that every server knows. */
const plainEfforts: { [level in ThinkingLevel]?: "low" | "high" } = {
  minimal: "low",
  xhigh: "high",
  max: "high",
};

function adaptOptions(
  options: StreamOptions,
  model: Model,
  { tools = [] }: Context,
): StreamOptions {
  const { temperature: _, ...rest } = options;
  const { reasoning: effort } = options;
  const { compat, reasoning } = model;
  const toolChoice = tools.length > 0 ? allowedChoice(options, model) : undefined;
  const noTemperature = compat?.noTemperature === "thinking" && reasoning && effort !== undefined;
  const plain = compat?.plainEfforts && plainEfforts[effort ?? "low"];
  return {
    ...(noTemperature ? rest : options),
    ...(plain && { reasoning: plain }),
    ...(toolChoice !== undefined && { toolChoice }),
  };
}

/**
 * Returns the session id as a cache key that is valid in a header. OpenAI accepts up to 64
 * characters.
 */
function cacheKeyOf({ sessionId = "", cacheRetention }: StreamOptions): string {
  return cacheRetention === "none" ? "" : sessionId.replace(/[^\x21-\x7e]/g, "_").slice(0, 64);
}

/** Declares the tools of past calls, for servers that refuse calls without a declaration. */
// Q111
function historyTools(messages: readonly WireMessage[]): WireMessage | undefined {
  const calls = messages.flatMap((message) => list(message.tool_calls));
  const names = new Set(calls.map((call) => asRecord(asRecord(call).function).name));
  if (names.size === 0) return undefined;
  const parameters = { type: "object", properties: {} };
  const declare = (name: unknown): WireMessage => ({
    name,
    description: "No longer available.",
    parameters,
  });
  return {
    tools: [...names].map((name) => ({ type: "function", function: declare(name) })),
    tool_choice: "none",
  };
}
