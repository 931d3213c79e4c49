/**
 * What of a transcript a model may be shown. Every encoder starts from this, so the rules of pairing and provenance hold on each
 * wire: each call has exactly one result right behind it, failed answers are left out, and opaque data goes back only to the
 * model it came from.
 */
import type {
  AssistantContent,
  AssistantMessage,
  Message,
  ToolResultMessage,
  UserContent,
  UserMessage,
} from "../llm/message.ts";
import type { Model } from "../llm/model.ts";

/** A user message whose content is always parts. */
export interface ReplayUser {
  readonly role: "user";
  readonly content: readonly UserContent[];
}
export interface ReplayAssistant {
  readonly role: "assistant";
  readonly content: readonly AssistantContent[];
}
export interface ReplayResult {
  readonly role: "toolResult";
  readonly toolCallId: string;
  readonly toolName: string;
  readonly content: readonly UserContent[];
  readonly isError: boolean;
}
export type ReplayMessage = ReplayUser | ReplayAssistant | ReplayResult;

/** The transcript as `model` may see it. Pure; the transcript stays as it is. */
export function toReplay(messages: readonly Message[], model: Model): ReplayMessage[] {
  const results = new Map<string, ToolResultMessage[]>();
  for (const message of messages) {
    if (message.role !== "toolResult") continue;
    const list = results.get(message.toolCallId);
    if (list === undefined) results.set(message.toolCallId, [message]);
    else list.push(message);
  }
  const replay: ReplayMessage[] = [];
  for (const message of messages) {
    if (message.role === "user") addUser(replay, message, model);
    else if (message.role === "assistant") addAssistant(replay, message, model, results);
    // A result is placed behind its call; one whose call is gone (a crash, a compaction) is left out (Q127).
  }
  return replay;
}

function addUser(replay: ReplayMessage[], message: UserMessage, model: Model): void {
  const content =
    typeof message.content === "string" ? [{ type: "text" as const, text: message.content }] : message.content;
  const parts = cleanParts(content, model);
  if (parts.length > 0) replay.push({ role: "user", content: parts });
}

function addAssistant(
  replay: ReplayMessage[],
  message: AssistantMessage,
  model: Model,
  results: Map<string, ToolResultMessage[]>,
): void {
  // A failed answer is no part of the conversation (Q163); an aborted one keeps what the user saw of it, its text.
  if (message.stopReason === "error") return;
  const aborted = message.stopReason === "aborted";
  const own = message.api === model.api && message.provider === model.provider && message.model === model.id;
  const content: AssistantContent[] = [];
  for (const part of message.content) {
    if (part.type === "text") {
      const text = wellFormed(part.text);
      if (text.trim() === "") continue;
      content.push({
        type: "text",
        text,
        ...(own && part.textSignature !== undefined && { textSignature: part.textSignature }),
      });
    } else if (part.type === "toolCall") {
      if (aborted) continue;
      const { thoughtSignature, ...call } = part;
      content.push(own && thoughtSignature !== undefined ? part : call);
    } else if (own && !aborted) content.push(part);
  }
  if (content.some((part) => part.type === "text" || part.type === "toolCall" || part.type === "opaque")) {
    replay.push({ role: "assistant", content });
  }
  if (aborted) return;
  for (const part of content) {
    if (part.type === "toolCall") replay.push(toResult(part.id, part.name, results.get(part.id)?.shift(), model));
  }
}

function toResult(id: string, name: string, result: ToolResultMessage | undefined, model: Model): ReplayResult {
  if (result === undefined) {
    const content = [{ type: "text" as const, text: "No result was recorded for this call." }];
    return { role: "toolResult", toolCallId: id, toolName: name, content, isError: true };
  }
  return {
    role: "toolResult",
    toolCallId: id,
    toolName: name,
    content: cleanParts(result.content, model),
    isError: result.isError,
  };
}

/** Empty text is refused by several servers (Q171), lone surrogates by more (Q130), images by text-only models. */
function cleanParts(parts: readonly UserContent[], model: Model): UserContent[] {
  const clean: UserContent[] = [];
  for (const part of parts) {
    if (part.type === "text") {
      const text = wellFormed(part.text);
      if (text.trim() !== "") clean.push({ type: "text", text });
    } else if (model.input.includes("image")) clean.push(part);
    else clean.push({ type: "text", text: "[an image was left out: this model reads text only]" });
  }
  return clean;
}

/** Text without lone surrogates (they become U+FFFD) and without NUL (Q130, Q131). */
export function wellFormed(text: string): string {
  if (!/[\u0000\ud800-\udfff]/.test(text)) return text;
  return text
    .replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, "\ufffd")
    .replaceAll("\u0000", "");
}

/** The arguments as history must carry them: always the JSON of an object, so that one bad call does not spoil every later request (Q129). */
export function argumentsJson(call: { readonly arguments: Record<string, unknown> }): string {
  return wellFormed(JSON.stringify(call.arguments));
}

/** The base URL and a path, with one slash between (Q135). */
export function joinUrl(baseUrl: string, path: string): string {
  return `${baseUrl.replace(/\/+$/, "")}/${path}`;
}
