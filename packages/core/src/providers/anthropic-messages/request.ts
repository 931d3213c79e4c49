/**
 * Encodes (model, context, options) as a Messages request. Avoids what the server refuses, so that
 * one odd message does not break a session.
 */
import { asText, defined } from "../../json-value.ts";
import type { Context, Tool } from "../../llm/message.ts";
import type { Model, StreamOptions, ThinkingLevel, ToolChoice } from "../../llm/model.ts";
import { supportsOutput } from "../../protocols.ts";
import type { WireRequest } from "../protocol.ts";
import { toolSchema } from "../adapt-schema.ts";
import { joinUrl, wireHeaders } from "../endpoint.ts";
import { ownEntry } from "../own-entry.ts";
import { assertSendable } from "../replay.ts";
import { isBlank } from "../is-blank.ts";
import { allowedChoice, toWireName, toWireNames } from "../tool-names.ts";
import {
  encodeMessages,
  isThinking,
  nameLimits,
  type WireBlock,
  type WireMessage,
} from "./messages.ts";
import { encodeFormat } from "./output.ts";

type Json = Record<string, unknown>;
type Level = Exclude<ThinkingLevel, "off">;

const DEFAULT_MAX_TOKENS = 8192;
/**
 * The smallest thinking budget that the server accepts. If possible, the answer gets at least this
 * many tokens too.
 */
const MIN_BUDGET = 1024;
const budgets: Record<Level, number> = {
  minimal: 1024,
  low: 2048,
  medium: 8192,
  high: 16_384,
  xhigh: 32_768,
  max: 64_000,
};
const efforts: Record<Level, string> = {
  minimal: "low",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "xhigh",
  max: "max",
};

export function encode(
  model: Model,
  context: Context,
  options: StreamOptions,
  continued = false,
): WireRequest {
  const messages = encodeMessages(context.messages, model, continued);
  assertSendable(messages); // without another server's blocks there may be nothing left
  const system = context.systemPrompt ?? "";
  const { effort, ...limits } = encodeLimits(model, options, messages);
  const thinks = limits.thinking !== undefined;
  const last = messages.at(-1) as WireMessage;
  if (!thinks && last.role === "assistant") {
    // Without thinking enabled, an answer to continue must not contain thinking (Q159).
    messages[messages.length - 1] = {
      ...last,
      content: last.content.filter((block) => !isThinking(block)),
    };
  }
  const temperature =
    thinks || model.compat?.noTemperature === true ? undefined : options.temperature; // Q113
  const tools = encodeTools(model, context.tools ?? [], messages, options, thinks);
  const output = supportsOutput(model, "tools" in tools) ? options.output : undefined;
  const format = output && encodeFormat(output, model);
  const userId = asText(options.metadata?.user_id);
  const body = defined({
    model: model.id,
    ...limits,
    output_config: (effort ?? format) && defined({ effort, format }),
    system: isBlank(system) ? undefined : [{ type: "text", text: system }],
    messages,
    ...tools,
    temperature,
    metadata: userId === "" ? undefined : { user_id: userId },
    stream: model.compat?.noStreaming === true ? undefined : true,
  });
  markForCache(body, options.cacheRetention ?? "short");
  return {
    url: joinUrl(model.baseUrl, "messages"),
    headers: withBetas(
      { "anthropic-version": "2023-06-01", ...wireHeaders(model, options, "x-api-key") },
      context.tools ?? [],
    ),
    body,
  };
}

/** Names the beta features of the tools in their header, after those that are already there. */
function withBetas(
  headers: Record<string, string>,
  tools: readonly Tool[],
): Record<string, string> {
  const betas = new Set(tools.flatMap(({ providerTool }) => providerTool?.beta ?? []));
  if (betas.size === 0) return headers;
  const name =
    Object.keys(headers).find((key) => key.toLowerCase() === "anthropic-beta") ?? "anthropic-beta";
  const given = (headers[name] ?? "").split(",").map((beta) => beta.trim());
  const all = new Set([...given.filter((beta) => beta !== ""), ...betas]);
  return { ...headers, [name]: [...all].join(",") };
}

interface Limits {
  readonly max_tokens: number;
  readonly thinking?: Json;
  readonly effort?: string;
}

/**
 * Returns `max_tokens`, which the server requires, and thinking: an effort, or a budget. The budget
 * is added to the answer's tokens and stays below the sum.
 */
// Q175
function encodeLimits(
  model: Model,
  options: StreamOptions,
  messages: readonly WireMessage[],
): Limits {
  const answer = options.maxTokens ?? model.maxTokens ?? DEFAULT_MAX_TOKENS;
  const level = model.reasoning ? options.reasoning : undefined;
  if (level === undefined) return { max_tokens: answer };
  if (model.compat?.adaptiveThinking === true) {
    const known = level === "xhigh" && model.compat.noXhigh === true ? "high" : level;
    return { max_tokens: answer, thinking: { type: "adaptive" }, effort: efforts[known] };
  }
  const wanted = Math.max(MIN_BUDGET, options.thinkingBudgets?.[level] ?? budgets[level]);
  const total = Math.min(answer + wanted, Math.max(answer, model.maxTokens ?? Infinity));
  const budget = Math.max(MIN_BUDGET, Math.min(wanted, total - MIN_BUDGET));
  if (budget >= total || !mayThink(messages)) return { max_tokens: answer };
  return { max_tokens: total, thinking: { type: "enabled", budget_tokens: budget } };
}

/**
 * Returns whether thinking may be enabled. A turn to continue must then begin with thinking, which
 * a turn of another model or without thinking does not.
 */
// Q159
function mayThink(messages: readonly WireMessage[]): boolean {
  const last = messages.at(-1);
  const turn =
    last?.role === "user" && last.content[0]?.type === "tool_result" ? messages.at(-2) : last;
  return turn?.role !== "assistant" || isThinking(turn.content[0]);
}

function encodeTools(
  model: Model,
  tools: readonly Tool[],
  messages: readonly WireMessage[],
  options: StreamOptions,
  thinks: boolean,
): Json {
  if (tools.length > 0) {
    // A tool call cannot be forced while thinking (Q112).
    const choice = allowedChoice(options, model, thinks ? "auto" : undefined);
    const names = toWireNames(tools, nameLimits.nameLength);
    return {
      tools: tools.map((tool, index) => {
        const own = ownEntry(tool, "anthropic-messages");
        if (own !== undefined) return own;
        const { parameters: schema, strict } = toolSchema(tool, model);
        return {
          name: names[index],
          ...(tool.description !== "" && { description: tool.description }),
          ...(strict && { strict }),
          input_schema: strict ? encodeFormat({ schema }, model).schema : schema,
        };
      }),
      ...(choice !== undefined && { tool_choice: encodeToolChoice(choice) }),
    };
  }
  // Servers refuse a history with calls if the request declares no tools (Q111).
  const called = new Set<unknown>();
  for (const { content } of messages)
    for (const { type, name } of content) if (type === "tool_use") called.add(name);
  if (called.size === 0) return {}; // Q109, Q110
  const input_schema = { type: "object", properties: {} };
  return {
    tools: [...called].map((name) => ({ name, description: "No longer available.", input_schema })),
    tool_choice: { type: "none" },
  };
}

function encodeToolChoice(choice: ToolChoice): Json {
  if (choice === "auto" || choice === "none") return { type: choice };
  return choice === "required"
    ? { type: "any" }
    : { type: "tool", name: toWireName(choice.name, nameLimits.nameLength) };
}

/**
 * Sets three of the four allowed cache marks: after the tools, after the system prompt, and after
 * the last user message.
 */
// Q174
function markForCache(
  body: { tools?: unknown; system?: unknown; messages: WireMessage[] },
  retention: "none" | "short" | "long",
): void {
  if (retention === "none") return;
  const mark = { type: "ephemeral", ...(retention === "long" && { ttl: "1h" }) };
  const lastUser = body.messages.findLast((message) => message.role === "user");
  for (const list of [body.tools, body.system, lastUser?.content])
    markLast(list as WireBlock[] | undefined, mark);
}

function markLast(blocks: WireBlock[] | undefined, mark: Json): void {
  const last = blocks?.at(-1);
  if (blocks !== undefined && last !== undefined)
    blocks[blocks.length - 1] = { ...last, cache_control: mark };
}
