/**
 * What of a transcript a model may be shown. Every encoder starts from this, so the rules of pairing and provenance hold on each
 * wire: each call has exactly one result right behind it, failed answers are left out, and opaque data goes back only to the
 * model it came from.
 */
import {
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
import { createWireIds, isWireId, toWireName, type NameLimits } from "./tool-names.ts";

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
  const { results, ids } = pairResults(messages);
  const arePlain = ids.size === results.length && [...ids].every((id) => isWireId(id, limits.idLength));
  const nextId = arePlain ? (id: string) => id : createWireIds(limits.idLength);
  let calls = 0;
  // A result is placed behind its call; one whose call is gone (a crash, a compaction) is left out (Q127).
  // Nor is an answer that was cut off at the very end sent back: the model is to answer, not to complete it.
  const end = messages.findLastIndex(
    (message) => message.role === "user" || (message.role === "assistant" && !isCut(message)),
  );
  const replay: ReplayMessage[] = [];
  for (const message of messages.slice(0, end + 1)) {
    if (message.role === "assistant") addAssistant(message);
    else if (message.role === "user") addUser(message);
  }
  assertSendable(replay);
  return replay;

  function addUser({ content }: UserMessage): void {
    const parts = cleanParts(typeof content === "string" ? [{ type: "text", text: content }] : content, model);
    if (parts.length > 0) replay.push({ role: "user", content: parts });
  }

  // Every request brings the whole transcript here: what goes out as it is, is not copied, and lists are of their final size.
  function addAssistant(message: AssistantMessage): void {
    const { api, provider, id } = model;
    const own = message.api === api && message.provider === provider && message.model === id && !isCut(message);
    const firstCall = calls;
    const parts = message.content.map((part) => replayPart(part, message, own));
    // A failed answer is no part of the conversation (Q163).
    if (message.stopReason === "error") return;
    const content = parts.includes(undefined) ? parts.filter((part) => part !== undefined) : parts;
    if (!content.some((part) => part?.type !== "thinking")) return;
    replay.push({ role: "assistant", content: content as AssistantContent[] });
    let index = firstCall;
    for (const part of content) if (part?.type === "toolCall") replay.push(replayResult(part, results[index++]));
  }

  /** The part as it goes out, if it does: of an aborted answer only what the user saw of it, its text. */
  function replayPart(
    part: AssistantContent,
    { stopReason }: AssistantMessage,
    own: boolean,
  ): AssistantContent | undefined {
    if (part.type === "text") {
      const { text } = part;
      if (isBlank(text)) return undefined;
      return own ? part : { type: "text", text };
    }
    if (part.type !== "toolCall")
      return own && (part.type === "thinking" || part.protocol === model.api) ? part : undefined;
    calls += 1;
    if (stopReason === "aborted" || stopReason === "error") return undefined;
    const id = nextId(part.id);
    const name = toWireName(part.name, limits.nameLength);
    const bare = own || part.thoughtSignature === undefined ? part : withoutSignature(part);
    return id === bare.id && name === bare.name ? bare : { ...bare, id, name };
  }

  function replayResult({ id: toolCallId, name: toolName }: ToolCall, result?: ToolResultMessage): ReplayResult {
    const given = result?.content ?? [{ type: "text", text: "No result was recorded for this call." }];
    const isError = result?.isError ?? true;
    return { role: "toolResult", toolCallId, toolName, content: cleanParts(given, model), isError };
  }
}

/** Whether an answer is no whole one. */
export function isCut({ stopReason }: AssistantMessage): boolean {
  return stopReason === "error" || stopReason === "aborted";
}

function withoutSignature(call: ToolCall): ToolCall {
  const { thoughtSignature: _, ...bare } = call;
  return bare;
}

/** Throws `invalid_argument` when nothing is left to send. */
export function assertSendable(messages: readonly unknown[]): void {
  if (messages.length > 0) return;
  throw new BowlineError("invalid_argument", "There is no message to send.");
}

interface Pairs {
  /** Of all calls, in the order of the calls. */
  readonly results: readonly (ToolResultMessage | undefined)[];
  /** The different ids of the calls. */
  readonly ids: ReadonlySet<string>;
}

/** Each call with its result: nearly always the results follow their calls, in order. */
function pairResults(messages: readonly Message[]): Pairs {
  const results: ToolResultMessage[] = [];
  const ids = new Set<string>();
  let at = 0;
  while (at < messages.length) {
    const message = messages[at++];
    if (message?.role === "toolResult") return pairById(messages);
    if (message?.role !== "assistant") continue;
    for (const part of message.content) {
      if (part.type !== "toolCall") continue;
      const result = messages[at++];
      if (result?.role !== "toolResult" || result.toolCallId !== part.id) return pairById(messages);
      results.push(result);
      ids.add(part.id);
    }
  }
  return { results, ids };
}

/** A result belongs to the latest call before it under its id that has none yet, since servers repeat ids (Q041). */
function pairById(messages: readonly Message[]): Pairs {
  const results: (ToolResultMessage | undefined)[] = [];
  /** The calls of one message that wait for a result. */
  const open = new Map<string, number[]>();
  for (const message of messages) {
    if (message.role === "toolResult") {
      const call = open.get(message.toolCallId)?.shift();
      if (call !== undefined) results[call] = message;
    } else if (message.role === "assistant") {
      const first = results.length;
      for (const part of message.content) {
        if (part.type !== "toolCall") continue;
        const waiting = open.get(part.id);
        if (waiting !== undefined && (waiting[0] ?? 0) >= first) waiting.push(results.length);
        else open.set(part.id, [results.length]);
        results.push(undefined);
      }
    }
  }
  return { results, ids: new Set(open.keys()) };
}

/** Empty text is refused by several servers (Q171), images by text-only models. */
function cleanParts(parts: readonly UserContent[], model: Model): UserContent[] {
  const clean = parts.map((part) => {
    if (part.type === "image") return cleanImage(part, model);
    const { text } = part;
    return isBlank(text) ? undefined : ({ type: "text", text } as const);
  });
  return clean.filter((part) => part !== undefined);
}

/** Whether nothing of the text would be read: NUL is not sent (Q131). */
export function isBlank(text: string): boolean {
  return !/[^\s\0]/.test(text);
}

function cleanImage({ data, mimeType }: ImageContent, model: Model): UserContent {
  const type = mimeType.toLowerCase().replace("image/jpg", "image/jpeg");
  const sees = model.input.includes("image");
  const isKnown = /^image\/(?:jpeg|png|gif|webp)$/.test(type) && data !== "";
  if (isKnown && sees) return { type: "image", data, mimeType: type };
  return {
    type: "text",
    text: `[an image was left out: ${sees ? `${mimeType} is not supported` : "the model reads text only"}]`,
  };
}
