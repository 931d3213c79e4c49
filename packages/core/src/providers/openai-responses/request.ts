/**
 * Encodes (model, context, options) as a Responses request that the server does not store: the
 * transcript is the whole state.
 */
import { defined } from "../../json-value.ts";
import type { Context, Tool } from "../../llm/message.ts";
import type { Model, StreamOptions, ToolChoice } from "../../llm/model.ts";
import type { WireRequest } from "../protocol.ts";
import { encodeOutput, toolSchema } from "../adapt-schema.ts";
import { joinUrl, wireHeaders } from "../endpoint.ts";
import { ownEntry } from "../own-entry.ts";
import { assertSendable } from "../replay.ts";
import { isBlank } from "../is-blank.ts";
import { allowedChoice, toWireName, toWireNames } from "../tool-names.ts";
import { encodeInput, nameLimits } from "./input.ts";

type Json = Record<string, unknown>;

/** The longest cache key that the server accepts. */
const CACHE_KEY_LENGTH = 64;
/** The smallest token limit that the server accepts. */
const MIN_OUTPUT_TOKENS = 16;

export function encode(model: Model, context: Context, options: StreamOptions): WireRequest {
  const input = encodeInput(context.messages, model, options.extraBody?.store === true);
  assertSendable(input); // without another server's items there may be nothing left
  const instructions = context.systemPrompt ?? "";
  const { maxTokens } = options;
  const format = encodeOutput(model, options, (context.tools ?? []).length > 0);
  const cacheKey =
    options.cacheRetention === "none" ? "" : (options.sessionId ?? "").slice(0, CACHE_KEY_LENGTH);
  return {
    url: joinUrl(model.baseUrl, "responses"),
    headers: wireHeaders(model, options, "authorization", "Bearer "),
    body: defined({
      model: model.id,
      instructions: isBlank(instructions) ? undefined : instructions,
      input,
      stream: model.compat?.noStreaming === true ? undefined : true,
      store: false,
      max_output_tokens:
        maxTokens === undefined ? undefined : Math.max(MIN_OUTPUT_TOKENS, maxTokens),
      ...encodeReasoning(model, options),
      text: format && { format: { type: "json_schema", ...format } },
      ...encodeTools(context.tools ?? [], options, model),
      metadata: options.metadata,
      prompt_cache_key: isBlank(cacheKey) ? undefined : cacheKey,
    }),
  };
}

/**
 * Encodes the effort. Always requests encrypted reasoning from models that think, so that it can be
 * sent back.
 */
// Q195
function encodeReasoning(model: Model, { reasoning: level, temperature }: StreamOptions): Json {
  const effort = level === "max" ? "xhigh" : level;
  const thinks = model.reasoning && effort !== undefined && model.compat?.thinkingFormat !== "none";
  const noTemperature = thinks || temperature === undefined || model.compat?.noTemperature === true; // Q113
  return {
    ...(thinks && { reasoning: { effort, summary: "auto" } }),
    ...(model.reasoning && { include: ["reasoning.encrypted_content"] }),
    ...(!noTemperature && { temperature }),
  };
}

/**
 * Encodes the tools. Sends no tool fields without tools. Always sets `strict`, since the
 * server otherwise treats schemas as strict.
 */
// Q109, Q110, Q117
function encodeTools(tools: readonly Tool[], options: StreamOptions, model: Model): Json {
  if (tools.length === 0) return {};
  const choice = allowedChoice(options, model);
  const names = toWireNames(tools, nameLimits.nameLength);
  return {
    tools: tools.map(
      (tool, index) =>
        ownEntry(tool, "openai-responses") ?? {
          type: "function",
          name: names[index],
          description: tool.description,
          ...toolSchema(tool, model),
        },
    ),
    ...(choice !== undefined && { tool_choice: encodeToolChoice(choice, tools) }),
  };
}

function encodeToolChoice(choice: ToolChoice, tools: readonly Tool[]): unknown {
  if (typeof choice === "string") return choice;
  const { providerTool } = tools.find(({ name }) => name === choice.name) ?? {};
  if (providerTool !== undefined) return { type: providerTool.entry.type };
  return { type: "function", name: toWireName(choice.name, nameLimits.nameLength) };
}
