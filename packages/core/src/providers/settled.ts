/**
 * What of a transcript was encoded for an earlier request, so that a turn of a long run costs what
 * is new in it. It is sent again only after all that its encoding read was compared: a transcript
 * may be edited between two requests, in place, too.
 */
import { isCut, toolCallsOf, type Context, type Message, type ToolCall } from "../llm/message.ts";
import type { Model, StreamOptions } from "../llm/model.ts";
import type { Protocol } from "./protocol.ts";
import { isWireId } from "./tool-names.ts";
import { walkMessage, walkValue } from "./walk-values.ts";
import { toWireJson } from "./wire-json.ts";

/**
 * The first `count` messages as items of a list of the body, under `field`: the JSON of each, with
 * a comma behind it.
 */
export interface Settled {
  readonly field: string;
  readonly count: number;
  readonly text: string;
}

/** Finds what is settled of a context, if anything is. */
export type FindSettled = (
  model: Model,
  context: Context,
  options: StreamOptions,
) => Settled | undefined;

interface Memory extends Settled {
  count: number;
  text: string;
  /** What the items were made of: the setting, then the messages. */
  readonly values: unknown[];
  /** The ids of the calls: one that comes again is another on the wire. */
  readonly ids: Set<string>;
  /** How often it was of use; below 0 the transcript changes too much to remember it. */
  worth: number;
}

/** The longest id that every wire takes as it is. */
const ID_LENGTH = 40;

/**
 * Remembers each transcript for as long as its first message is kept. What has no tools is too
 * short to remember.
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
    // Ids that count the calls depend on what came before.
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
      if (!isTurn(messages, memory.count)) return undefined; // no longer: it is not compared
      memory.worth += 1;
    }
    // Marks for a cache move on with each request.
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
 * Whether a turn begins here that follows another's results, and calls tools itself: nothing joins
 * it to what was before.
 */
function isTurn(messages: readonly Message[], index: number): boolean {
  const message = messages[index];
  if (message?.role !== "assistant" || messages[index - 1]?.role !== "toolResult") return false;
  return !isCut(message) && callsOf(message).length > 0;
}

/** Takes in what is before the last turn of calls. */
function extend(
  memory: Memory,
  messages: readonly Message[],
  encode: (piece: Message[]) => unknown,
): void {
  const { count, ids, values } = memory;
  const until = messages.findLastIndex((_, index) => isTurn(messages, index));
  const piece = messages.slice(count, Math.max(count, until));
  const own = piece.flatMap(callsOf);
  if (!standsAlone(piece) || !areNew(own, ids)) return;
  let text = "";
  for (const item of encode(piece) as unknown[]) text += `${toWireJson(item)},`; // may throw
  for (const message of piece) walkMessage(message, values, values.length);
  for (const { id } of own) ids.add(id);
  memory.text += text;
  memory.count = until;
}

/**
 * Whether its encoding is that of the same messages among others: it is whole turns, and what
 * follows begins another.
 */
function standsAlone(piece: readonly Message[]): boolean {
  let at = 0;
  let isWhole = false;
  while (at < piece.length) {
    const message = piece[at++] as Message;
    if (message.role !== "assistant") continue;
    isWhole = !isCut(message);
    for (const part of message.content) {
      if (part.type === "opaque") return false; // may belong to one elsewhere
      if (part.type !== "toolCall") continue;
      const result = piece[at++];
      if (result?.role !== "toolResult" || result.toolCallId !== part.id) return false;
    }
  }
  return isWhole;
}

function callsOf(message: Message): ToolCall[] {
  return message.role === "assistant" ? toolCallsOf(message) : [];
}

/** Whether the ids go out as they are. */
function areNew(calls: readonly ToolCall[], taken: ReadonlySet<string>): boolean {
  const ids = new Set(calls.map(({ id }) => id));
  return (
    ids.size === calls.length && calls.every(({ id }) => !taken.has(id) && isWireId(id, ID_LENGTH))
  );
}
