/**
 * Encodes (model, context, options) as a Chat Completions request. Sends only what was requested,
 * since many servers refuse unknown fields.
 */
// Q108
import { defined } from "../../json-value.ts";
import type { Context, Tool } from "../../llm/message.ts";
import type { Model, StreamOptions, ToolChoice } from "../../llm/model.ts";
import { toJsonSchema } from "../../schema.ts";
import type { WireRequest } from "../protocol.ts";
import { joinUrl, wireHeaders } from "../endpoint.ts";
import { ownEntry } from "../own-entry.ts";
import { toWireName, toWireNames } from "../tool-names.ts";
import { encodeMessages, nameLimits, type WireMessage } from "./messages.ts";

export { nameLimits, reasoningFields } from "./messages.ts";

export function encode(
  model: Model,
  context: Context,
  options: StreamOptions,
  continued = false,
): WireRequest {
  const { compat = {} } = model;
  const tools = context.tools ?? [];
  const body: Record<string, unknown> = defined({
    model: model.id,
    messages: encodeMessages(model, context, continued),
    stream: true,
    stream_options: compat.streamUsage === false ? undefined : { include_usage: true },
    [compat.maxTokensField ?? "max_tokens"]: options.maxTokens,
    temperature: compat.noTemperature === true ? undefined : options.temperature,
    ...(tools.length > 0 && {
      tools: encodeTools(tools),
      tool_choice: encodeToolChoice(options.toolChoice),
    }),
    ...encodeThinking(model, options),
    metadata: options.metadata,
  });
  return {
    url: joinUrl(model.baseUrl, "chat/completions"),
    headers: wireHeaders(model, options, "authorization", "Bearer "),
    body,
  };
}

function encodeTools(tools: readonly Tool[]): WireMessage[] {
  const names = toWireNames(tools, nameLimits.nameLength);
  return tools.map((tool, index) => {
    const { name, description, parameters } = tool;
    const schema = toJsonSchema(parameters, `tool "${name}"`);
    return (
      ownEntry(tool, "openai-chat") ?? {
        type: "function",
        function: { name: names[index], description, parameters: schema },
      }
    );
  });
}

function encodeToolChoice(choice: ToolChoice | undefined): unknown {
  if (typeof choice !== "object") return choice;
  return { type: "function", function: { name: toWireName(choice.name, nameLimits.nameLength) } };
}

/** Encodes the thinking level in the field that the server expects. */
// Q134
function encodeThinking(
  { reasoning, compat }: Model,
  { reasoning: level }: StreamOptions,
): Record<string, unknown> {
  if (level === undefined || !reasoning) return {};
  const effort = level === "max" ? "xhigh" : level;
  const format = compat?.thinkingFormat ?? "reasoning_effort";
  const fields = {
    reasoning_effort: effort,
    reasoning: { effort },
    thinking: { type: "enabled" },
    enable_thinking: true,
    chat_template_kwargs: { enable_thinking: true },
  };
  return format === "none" ? {} : { [format]: fields[format] };
}
