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
import type { Model } from "../llm/model.ts";
import { toWireName, WireIds, type NameLimits } from "./tool-names.ts";

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
  const replay = new Replay(messages, model, limits);
  for (const message of messages) {
    if (message.role === "user") replay.addUser(message);
    else if (message.role === "assistant") replay.addAssistant(message);
    // A result is placed behind its call; one whose call is gone (a crash, a compaction) is left out (Q127).
  }
  assertSendable(replay.messages);
  return replay.messages;
}

/** Throws `invalid_argument` when nothing is left to send. */
export function assertSendable(messages: readonly unknown[]): void {
  if (messages.length > 0) return;
  throw new BowlineError("invalid_argument", "There is no message to send.");
}

class Replay {
  readonly messages: ReplayMessage[] = [];
  readonly #model: Model;
  readonly #limits: NameLimits;
  readonly #ids: WireIds;
  readonly #results: ReadonlyMap<ToolCall, ToolResultMessage>;

  constructor(messages: readonly Message[], model: Model, limits: NameLimits) {
    this.#model = model;
    this.#limits = limits;
    this.#ids = new WireIds(limits.idLength);
    this.#results = pairResults(messages);
  }

  addUser({ content }: UserMessage): void {
    const parts = cleanParts(typeof content === "string" ? [{ type: "text", text: content }] : content, this.#model);
    if (parts.length > 0) this.messages.push({ role: "user", content: parts });
  }

  addAssistant(message: AssistantMessage): void {
    // A failed answer is no part of the conversation (Q163); an aborted one keeps what the user saw of it, its text.
    if (message.stopReason === "error") return;
    const aborted = message.stopReason === "aborted";
    const { api, provider, id } = this.#model;
    const own = !aborted && message.api === api && message.provider === provider && message.model === id;
    const content: AssistantContent[] = [];
    const results: ReplayResult[] = [];
    for (const part of message.content) {
      if (part.type === "text") {
        const text = wellFormed(part.text);
        if (text.trim() !== "") content.push(own ? { ...part, text } : { type: "text", text });
      } else if (part.type === "toolCall") {
        if (aborted) continue;
        const call = this.#call(part, own);
        content.push(call);
        results.push(this.#result(call, this.#results.get(part)));
      } else if (own && (part.type === "thinking" || part.protocol === api)) content.push(part);
    }
    const spoken = content.some(({ type }) => type !== "thinking");
    if (spoken) this.messages.push({ role: "assistant", content }, ...results);
  }

  #call({ thoughtSignature, ...call }: ToolCall, own: boolean): ToolCall {
    const id = this.#ids.next(call.id);
    const name = toWireName(call.name, this.#limits.nameLength);
    return { ...call, id, name, ...(own && thoughtSignature !== undefined && { thoughtSignature }) };
  }

  #result({ id: toolCallId, name: toolName }: ToolCall, result: ToolResultMessage | undefined): ReplayResult {
    const content = cleanParts(
      result?.content ?? [{ type: "text", text: "No result was recorded for this call." }],
      this.#model,
    );
    return { role: "toolResult", toolCallId, toolName, content, isError: result?.isError ?? true };
  }
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

const imageTypes = new Set(["image/jpeg", "image/png", "image/gif", "image/webp"]);

/** Empty text is refused by several servers (Q171), lone surrogates by more (Q130), images by text-only models. */
function cleanParts(parts: readonly UserContent[], model: Model): UserContent[] {
  return parts.flatMap((part): UserContent[] => {
    if (part.type === "image") return [cleanImage(part, model)];
    const text = wellFormed(part.text);
    return text.trim() === "" ? [] : [{ type: "text", text }];
  });
}

function cleanImage({ data, mimeType }: ImageContent, model: Model): UserContent {
  if (!model.input.includes("image"))
    return { type: "text", text: "[an image was left out: the model reads text only]" };
  const type = mimeType.toLowerCase().replace("image/jpg", "image/jpeg");
  if (imageTypes.has(type) && data !== "") return { type: "image", data, mimeType: type };
  return {
    type: "text",
    text: `[an image was left out: ${wellFormed(mimeType)} is not JPEG, PNG, GIF or WebP]`,
  };
}

/** Text without lone surrogates (they become U+FFFD) and without NUL (Q130, Q131). */
export function wellFormed(text: string): string {
  if (!/[\u0000\ud800-\udfff]/.test(text)) return text;
  return text
    .replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, "\ufffd")
    .replaceAll("\u0000", "");
}

/** The same for every string of a value: once it is JSON, a lone surrogate is escaped and can no longer be seen. */
export function wellFormedValue(value: unknown): unknown {
  if (typeof value === "string") return wellFormed(value);
  if (Array.isArray(value)) return value.map(wellFormedValue);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [wellFormed(key), wellFormedValue(inner)]));
}

/** The arguments as history must carry them: always the JSON of an object, so that one bad call does not spoil every later request (Q129). */
export function argumentsJson(call: { readonly arguments: Record<string, unknown> }): string {
  const json = JSON.stringify(call.arguments);
  return /\\u(?:d[89a-f]|0000)/.test(json) ? JSON.stringify(wellFormedValue(call.arguments)) : json;
}

/** The base URL and a path, with one slash between (Q135). */
export function joinUrl(baseUrl: string, path: string): string {
  return `${baseUrl.replace(/\/+$/, "")}/${path}`;
}
