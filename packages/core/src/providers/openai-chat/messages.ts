/** Encodes the transcript as Chat Completions messages. */
import { asText } from "../../json-value.ts";
import { joinTexts, type Context, type ToolCall, type UserContent } from "../../llm/message.ts";
import type { Model } from "../../llm/model.ts";
import { toReplay, type ReplayAssistant, type WireLimits } from "../replay.ts";
import { isBlank } from "../is-blank.ts";
import { toWireJson } from "../wire-json.ts";

export type WireMessage = Record<string, unknown>;

export const nameLimits: WireLimits = {
  idLength: 40,
  nameLength: 64,
  files:
    /^(?:https?:image\/|data:(?:image\/(?:jpeg|png|gif|webp)|application\/pdf|audio\/(?:x-)?(?:wav|mpeg|mp3))$)/,
};

/**
 * The fields in which servers send reasoning. The first one with text counts, and reasoning is sent
 * back under the same name.
 */
// Q082, Q083
export const reasoningFields: readonly string[] = [
  "reasoning_content",
  "reasoning",
  "reasoning_text",
  "thinking",
];

export function encodeMessages(model: Model, context: Context, continued: boolean): WireMessage[] {
  const wire: WireMessage[] = [];
  const system = context.systemPrompt ?? "";
  if (!continued && !isBlank(system))
    wire.push({ role: model.compat?.systemRole ?? "system", content: system });
  let moved: UserContent[] = [];
  const say = (parts: readonly UserContent[]): unknown =>
    wire.push({ role: "user", content: encodeParts(parts) });
  const flush = (): void => {
    if (moved.length > 0)
      say([{ type: "text", text: "Files of the tool results above:" }, ...moved]);
    moved = [];
  };
  for (const message of toReplay(context.messages, model, nameLimits)) {
    const { role, content } = message;
    if (role === "toolResult") {
      // The tool role accepts only text, and the results of one turn must be adjacent (Q123).
      const own = content.filter(({ type }) => type !== "text");
      moved.push(...own);
      wire.push({
        role: "tool",
        tool_call_id: message.toolCallId,
        content:
          joinTexts(content, "\n") || (own.length > 0 ? "(see the file below)" : "(no output)"),
      });
      continue;
    }
    flush();
    if (role === "user") say(content);
    else wire.push(encodeAssistant(message, model));
  }
  flush();
  return wire;
}

function encodeAssistant({ content }: ReplayAssistant, { compat }: Model): WireMessage {
  const wire: WireMessage = { role: "assistant", content: joinTexts(content, "") || null };
  for (const part of content)
    if (part.type === "thinking" && compat?.replayReasoning) {
      const field = reasoningFields.find((known) => known === part.field) ?? "reasoning_content";
      wire[field] = asText(wire[field]) + part.thinking;
    }
  const details = content.filter((part) => part.type === "opaque"); // reasoning_details (Q086)
  Object.assign(wire, ...details.map(({ raw }) => raw));
  const calls = content.filter((part) => part.type === "toolCall");
  if (calls.length > 0) wire.tool_calls = calls.map(encodeCall);
  return wire;
}

/**
 * Encodes a call. Its arguments are always a JSON object, since one invalid call would fail every
 * later request.
 */
// Q129
function encodeCall(call: ToolCall): WireMessage {
  const { id, name, thoughtSignature } = call;
  const wire: WireMessage = {
    id,
    type: "function",
    function: { name, arguments: toWireJson(call.arguments) },
  };
  // Without the signature, Gemini refuses the next turn (Q089).
  if (thoughtSignature) wire.extra_content = { google: { thought_signature: thoughtSignature } };
  return wire;
}

/** Encodes parts as a string if all are text, since several servers refuse arrays. */
// Q122
function encodeParts(parts: readonly UserContent[]): unknown {
  if (parts.every((part) => part.type === "text")) return joinTexts(parts, "\n");
  return parts.map((part) => {
    if (part.type === "text") return part;
    const { mimeType, data, url = `data:${mimeType};base64,${data}` } = part;
    if (part.type === "image") return { type: "image_url", image_url: { url } };
    return mimeType === "application/pdf"
      ? { type: "file", file: { filename: part.name?.trim() || "file.pdf", file_data: url } }
      : {
          type: "input_audio",
          input_audio: { data, format: /wav/.test(part.mimeType) ? "wav" : "mp3" },
        };
  });
}
