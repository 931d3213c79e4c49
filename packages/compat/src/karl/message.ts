/** karl's messages: flat roles, tool calls beside the text, one tool message per result. */
import * as core from "@bowline/core";
import type { Model } from "@bowline/core";
import { toToolCall } from "../transcript.ts";

export interface Message {
  role: "system" | "user" | "assistant" | "tool";
  content: string | ContentBlock[];
  tool_calls?: ToolCall[];
  /** Set on tool messages, as are `name` (the tool's) and `is_error`. */
  tool_call_id?: string;
  name?: string;
  is_error?: boolean;
}

/**
 * A part of a message. `data` (Base64) and `mimeType` belong to images, `id`, `name` and `input` to
 * tool_use, the rest to tool_result.
 */
export interface ContentBlock extends Partial<Pick<Message, "content" | "name" | "is_error">> {
  type: "text" | "image" | "tool_use" | "tool_result";
  text?: string;
  data?: string;
  mimeType?: string;
  id?: string;
  input?: unknown;
  tool_use_id?: string;
}

/** `arguments` is JSON text. */
export interface ToolCall {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
}

/**
 * Converts a given message for the loop. Drops system prompts, which the loop takes separately.
 * `details` marks results that must not be reworded.
 */
export function toTranscript(given: Message, model: Model, timestamp: number): core.Message[] {
  const { role, content, tool_calls = [] } = given;
  const { tool_call_id: toolCallId = "", name: toolName = "" } = given;
  const blocks: ContentBlock[] =
    typeof content === "string" ? [{ type: "text", text: content }] : content;
  const parts = blocks.flatMap(
    ({ type, text = "", data = "", mimeType = "" }): core.UserContent[] => {
      if (type === "image") return [{ type, data, mimeType }];
      return type === "text" ? [{ type, text }] : [];
    },
  );
  if (role === "system") return [];
  if (role === "tool") {
    const about = { toolCallId, toolName, isError: given.is_error === true, timestamp };
    return [{ role: "toolResult", content: parts, details: given, ...about }];
  }
  if (role === "assistant") {
    const used = blocks.filter(({ type }) => type === "tool_use");
    const calls = [
      ...tool_calls.map((call) => toToolCall(call.id, call.function.name, call.function.arguments)),
      ...used.map(({ id = "", name = "", input = {} }) =>
        toToolCall(id, name, JSON.stringify(input)),
      ),
    ];
    const said = [
      ...parts.filter(({ type }) => type === "text"),
      ...calls,
    ] as core.AssistantContent[];
    const { api, provider, id } = model;
    return [
      { role, content: said, api, provider, model: id, usage: {}, stopReason: "stop", timestamp },
    ];
  }
  const results = blocks.flatMap((block) => {
    if (block.type !== "tool_result") return [];
    const { tool_use_id = "", content: result = "", is_error = false } = block;
    const message = { role: "tool", tool_call_id: tool_use_id, content: result, is_error } as const;
    return toTranscript(message, model, timestamp);
  });
  return parts.length === 0 ? results : [...results, { role: "user", content: parts, timestamp }];
}

/**
 * Converts a message that the loop added. An answer with only tool calls has an empty string as
 * content.
 */
export function fromTranscript(message: core.AssistantMessage | core.ToolResultMessage): Message {
  if (message.role === "assistant") {
    const calls = core.toolCallsOf(message).map(fromToolCall);
    return {
      role: "assistant",
      content: core.messageText(message),
      ...(calls.length > 0 && { tool_calls: calls }),
    };
  }
  const { toolCallId: tool_call_id, toolName: name, isError } = message;
  const content = message.content
    .flatMap((part) => (part.type === "text" ? [part.text] : []))
    .join("\n");
  return { role: "tool", tool_call_id, name, content, ...(isError && { is_error: true }) };
}

export function fromToolCall(call: core.ToolCall): ToolCall {
  const { id, name, arguments: args, argumentsText } = call;
  const text = argumentsText || JSON.stringify(args);
  return { id, type: "function", function: { name, arguments: text } };
}
