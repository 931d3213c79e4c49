/**
 * Caches the encoded beginning of a transcript, so that each turn of a long run encodes only what
 * is new. The cached text is reused only after comparing every value that the encoding read,
 * because a transcript may be edited in place between requests.
 */
import { isCut, toolCallsOf, type Context, type Message, type ToolCall } from "../llm/message.ts";
import type { Model, StreamOptions } from "../llm/model.ts";
import type { Protocol } from "./protocol.ts";
import { isWireId } from "./tool-names.ts";
import { walkMessage, walkValue } from "./walk-values.ts";
import { toWireJson } from "./wire-json.ts";

/**
 * The first `count` messages as items of the body's list `field`: the JSON of each, followed by a
 * comma.
 */
export interface Settled {
  readonly field: string;
  readonly count: number;
  readonly text: string;
}

/** Returns the cached beginning of a context, if there is one. */
export type FindSettled = (
  model: Model,
  context: Context,
  options: StreamOptions,
) => Settled | undefined;

interface Memory extends Settled {
  count: number;
  text: string;
  /** The values that the items were made of: the settings, then the messages. */
  readonly values: unknown[];
  /** The ids of the cached calls. A repeated id would get another id on the wire. */
  readonly ids: Set<string>;
  /** How often the cache was useful. Below 0 the transcript changes too often to cache it. */
  worth: number;
}

/** A message with longer base64 is not cached, since the cached text would be another copy of it. */
const MAX_DATA = 1_000_000;

/** The longest id that every wire accepts unchanged. */
const ID_LENGTH = 40;

/**
 * Creates the cache. An entry lives as long as the first message of its transcript. Transcripts
 * without tools are too short to cache.
 */
export function createSettled({
  encode,
  transcript,
}: Pick<Protocol, "encode" | "transcript">): FindSettled {
  const memories = new WeakMap<Message, Memory>();
  return (model, context, options) => {
    const { tools = [], ...rest } = context;
    const { messages, systemPrompt } = rest;
    const [first] = messages;
    const { [transcript]: replaced, store } = options.extraBody ?? {};
    // Ids that number the calls depend on all earlier calls.
    const isOwn = replaced === undefined && model.compat?.callIdDigits === undefined;
    if (!first || tools.length === 0 || !isOwn) return undefined;
    const setting = [model, systemPrompt, store];
    const memory = memories.get(first);
    if (!memory || !isSame(memory, setting, messages)) {
      const values: unknown[] = [];
      walkValue(setting, values, 0);
      const worth = Math.min(memory?.worth ?? 1, 1) - 1;
      memories.set(first, { field: transcript, count: 0, text: "", values, ids: new Set(), worth });
      return undefined;
    }
    if (memory.count > 0) {
      // The message at `count` was not compared, and may have changed.
      if (!isTurn(messages, memory.count)) return undefined;
      memory.worth += 1;
    }
    // Cache marks move with each request, so they are not encoded here.
    const unmarked = { ...options, cacheRetention: "none" } as const;
    const encodeItems = (piece: Message[]): unknown =>
      encode(model, { ...rest, messages: piece }, unmarked, memory.count > 0).body[transcript];
    if (memory.worth >= 0) extend(memory, messages, encodeItems);
    const isKnown =
      memory.count > 0 && areNew(messages.slice(memory.count).flatMap(callsOf), memory.ids);
    return isKnown ? memory : undefined;
  };
}

function isSame(
  { count, values }: Memory,
  setting: readonly unknown[],
  messages: readonly Message[],
): boolean {
  let at = walkValue(setting, values, 0);
  for (let index = 0; index < count && at >= 0; index++)
    at = walkMessage(messages[index], values, at);
  return at >= 0;
}

/**
 * Returns whether a turn that calls tools starts here, after another turn's results. Nothing merges
 * such a turn with what precedes it.
 */
function isTurn(messages: readonly Message[], index: number): boolean {
  const message = messages[index];
  if (message?.role !== "assistant" || messages[index - 1]?.role !== "toolResult") return false;
  return !isCut(message) && callsOf(message).length > 0;
}

/** Adds the messages before the last turn that calls tools. */
function extend(
  memory: Memory,
  messages: readonly Message[],
  encode: (piece: Message[]) => unknown,
): void {
  const { count, ids, values } = memory;
  const until = messages.findLastIndex((_, index) => isTurn(messages, index));
  const piece = messages.slice(count, Math.max(count, until));
  const own = piece.flatMap(callsOf);
  if (piece.some(isLarge) || !standsAlone(piece) || !areNew(own, ids)) return;
  let text = "";
  // `toWireJson` may throw.
  for (const item of encode(piece) as unknown[]) text += `${toWireJson(item)},`;
  for (const message of piece) walkMessage(message, values, values.length);
  for (const { id } of own) ids.add(id);
  memory.text += text;
  memory.count = until;
}

/**
 * Returns whether these messages are encoded the same way alone as among others: they are whole
 * turns, and another turn follows.
 */
function standsAlone(piece: readonly Message[]): boolean {
  let at = 0;
  let isWhole = false;
  while (at < piece.length) {
    const message = piece[at++] as Message;
    if (message.role !== "assistant") continue;
    isWhole = !isCut(message);
    for (const part of message.content) {
      if (part.type === "opaque") return false; // may be paired with an item in another message
      if (part.type !== "toolCall") continue;
      const result = piece[at++];
      if (result?.role !== "toolResult" || result.toolCallId !== part.id) return false;
    }
  }
  return isWhole;
}

function isLarge({ content }: Message): boolean {
  const parts = [content].flat() as readonly { readonly data?: string }[];
  return parts.some(({ data = "" }) => data.length > MAX_DATA);
}

function callsOf(message: Message): ToolCall[] {
  return message.role === "assistant" ? toolCallsOf(message) : [];
}

/** Returns whether the ids are new and valid on every wire, so that they are sent unchanged. */
function areNew(calls: readonly ToolCall[], taken: ReadonlySet<string>): boolean {
  const ids = new Set(calls.map(({ id }) => id));
  return (
    ids.size === calls.length && calls.every(({ id }) => !taken.has(id) && isWireId(id, ID_LENGTH))
  );
}
