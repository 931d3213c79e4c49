/**
 * What of a transcript a model may be shown. Every encoder starts from this, so the rules of pairing and provenance hold on each
 * wire: each call has exactly one result right behind it, failed answers are left out, and opaque data goes back only to the
 * model it came from.
 */
import {
  toolCallsOf,
  type AssistantContent,
  type AssistantMessage,
  type ImageContent,
  type Message,
  type ToolCall,
  type ToolResultMessage,
  type UserContent,
  type UserMessage,
} from "../llm/message.ts";
import { BowlineError } from "../errors.ts";
import { isRecord } from "../json-value.ts";
import type { Model } from "../llm/model.ts";
import { createWireIds, toWireName, type NameLimits } from "./tool-names.ts";

/** A user message whose content is always parts. */
interface ReplayUser {
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

/**
 * The transcript as `model` may see it, with ids and names as its wire takes them. Pure; the transcript stays as it is. Throws
 * `invalid_argument` when nothing of it can be sent.
 */
export function toReplay(messages: readonly Message[], model: Model, limits: NameLimits): ReplayMessage[] {
  const nextId = createWireIds(limits.idLength);
  const results = pairResults(messages);
  // A result is placed behind its call; one whose call is gone (a crash, a compaction) is left out (Q127).
  // Nor is an answer that was cut off at the very end sent back: the model is to answer, not to complete it.
  const end = messages.findLastIndex(
    (message) =>
      message.role === "user" || (message.role === "assistant" && !/^(?:error|aborted)$/.test(message.stopReason)),
  );
  const replay = messages.slice(0, end + 1).flatMap((message) => {
    if (message.role === "assistant") return replayAssistant(message);
    return message.role === "user" ? replayUser(message) : [];
  });
  assertSendable(replay);
  return replay;

  function replayUser({ content }: UserMessage): ReplayMessage[] {
    const parts = cleanParts(typeof content === "string" ? [{ type: "text", text: content }] : content, model);
    return parts.length > 0 ? [{ role: "user", content: parts }] : [];
  }

  function replayAssistant({ stopReason, ...message }: AssistantMessage): ReplayMessage[] {
    // A failed answer is no part of the conversation (Q163); an aborted one keeps what the user saw of it, its text.
    if (stopReason === "error") return [];
    const aborted = stopReason === "aborted";
    const { api, provider, id } = model;
    const own = !aborted && message.api === api && message.provider === provider && message.model === id;
    const content: AssistantContent[] = [];
    const answers: ReplayResult[] = [];
    for (const part of message.content) {
      if (part.type === "text") {
        const text = wellFormed(part.text);
        if (text.trim() !== "") content.push(own ? { ...part, text } : { type: "text", text });
      } else if (part.type === "toolCall") {
        if (aborted) continue;
        const { thoughtSignature: _, ...bare } = part;
        const call = { ...(own ? part : bare), id: nextId(part.id), name: toWireName(part.name, limits.nameLength) };
        content.push(call);
        answers.push(replayResult(call, results.get(part)));
      } else if (own && (part.type === "thinking" || part.protocol === api)) content.push(part);
    }
    const spoken = content.some(({ type }) => type !== "thinking");
    return spoken ? [{ role: "assistant", content }, ...answers] : [];
  }

  function replayResult({ id: toolCallId, name: toolName }: ToolCall, result?: ToolResultMessage): ReplayResult {
    const given = result?.content ?? [{ type: "text", text: "No result was recorded for this call." }];
    const isError = result?.isError ?? true;
    return { role: "toolResult", toolCallId, toolName, content: cleanParts(given, model), isError };
  }
}

/** Throws `invalid_argument` when nothing is left to send. */
export function assertSendable(messages: readonly unknown[]): void {
  if (messages.length > 0) return;
  throw new BowlineError("invalid_argument", "There is no message to send.");
}

/** Each result with its call: the latest before it under that id that has none yet, since servers repeat ids (Q041). */
function pairResults(messages: readonly Message[]): Map<ToolCall, ToolResultMessage> {
  const results = new Map<ToolCall, ToolResultMessage>();
  const open = new Map<string, ToolCall[]>();
  for (const message of messages) {
    if (message.role === "toolResult") {
      const call = open.get(message.toolCallId)?.shift();
      if (call !== undefined) results.set(call, message);
    } else if (message.role === "assistant") {
      const calls = toolCallsOf(message);
      for (const { id } of calls) open.set(id, []);
      for (const call of calls) open.get(call.id)?.push(call);
    }
  }
  return results;
}

/** Empty text is refused by several servers (Q171), lone surrogates by more (Q130), images by text-only models. */
function cleanParts(parts: readonly UserContent[], model: Model): UserContent[] {
  return parts.flatMap((part): UserContent[] => {
    if (part.type === "image") return [cleanImage(part, model)];
    const text = wellFormed(part.text);
    return text.trim() === "" ? [] : [{ type: "text", text }];
  });
}

function cleanImage({ data, mimeType }: ImageContent, model: Model): UserContent {
  const type = mimeType.toLowerCase().replace("image/jpg", "image/jpeg");
  const sees = model.input.includes("image");
  const isKnown = /^image\/(?:jpeg|png|gif|webp)$/.test(type) && data !== "";
  if (isKnown && sees) return { type: "image", data, mimeType: type };
  return {
    type: "text",
    text: `[an image was left out: ${sees ? `${wellFormed(mimeType)} is not supported` : "the model reads text only"}]`,
  };
}

/** Text without lone surrogates (they become U+FFFD) and without NUL (Q130, Q131). */
export function wellFormed(text: string): string {
  if (!/[\u0000\ud800-\udfff]/.test(text)) return text;
  return text.replace(/[\ud800-\udfff]/gu, "\ufffd").replaceAll("\u0000", "");
}

/** The same for every string of a value: once it is JSON, a lone surrogate is escaped and can no longer be seen. */
export function wellFormedValue(value: unknown): unknown {
  if (typeof value === "string") return wellFormed(value);
  if (Array.isArray(value)) return value.map(wellFormedValue);
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [wellFormed(key), wellFormedValue(inner)]));
}

/** The arguments as history must carry them: always the JSON of an object, so that one bad call does not spoil every later request (Q129). */
export function argumentsJson(call: { readonly arguments: Record<string, unknown> }): string {
  // In JSON, what `wellFormed` looks for stands as an escape; every escape is read, so that an escaped backslash is none.
  const escapes = /\\(?:u(d[89a-f]..|0000)|.)/g;
  return JSON.stringify(call.arguments).replace(escapes, (escape, code?: string) => {
    if (code === undefined) return escape;
    return code === "0000" ? "" : "\ufffd";
  });
}

/** The base URL and a path, with one slash between; a query such as Azure's `api-version` stays last (Q135). */
export function joinUrl(baseUrl: string, path: string): string {
  return baseUrl.replace(/\/*(?=\?|$)/, `/${path}`);
}
