/**
 * Encodes the transcript as Messages turns: alternating roles, results first, opaque data
 * unchanged.
 */
import { asRecord, isRecord, parseJson } from "../../json-value.ts";
import type { Message, ThinkingContent, ToolCall, UserContent } from "../../llm/message.ts";
import type { Model } from "../../llm/model.ts";
import {
  toReplay,
  type ReplayAssistant,
  type ReplayMessage,
  type ReplayResult,
  type WireLimits,
} from "../replay.ts";
import { isBlank } from "../is-blank.ts";
import { textOf } from "../clean-file.ts";

export interface WireBlock {
  readonly type: string;
  readonly [field: string]: unknown;
}
export interface WireMessage {
  readonly role: "user" | "assistant";
  readonly content: WireBlock[];
}

/** A turn under construction. Tool results precede its other content. */
// Q168
interface Turn {
  readonly role: "user" | "assistant";
  readonly results: WireBlock[];
  readonly content: WireBlock[];
}

export const nameLimits: WireLimits = {
  idLength: 64,
  nameLength: 128,
  files:
    /^(?:https?:image\/|data:(?:image\/(?:jpeg|png|gif|webp)|application\/json)$|data:text\/|(?:https?|data):application\/pdf$)/,
};

export function encodeMessages(
  messages: readonly Message[],
  model: Model,
  continued: boolean,
): WireMessage[] {
  const replay = toReplay(messages, model, nameLimits);
  const whole = sendable(replay);
  const turns: Turn[] = [];
  for (const message of replay) {
    const turn = encodeTurn(message, whole, model);
    const last = turns.at(-1);
    if (last?.role === turn.role) {
      last.results.push(...turn.results); // consecutive messages of a role form one turn (Q170)
      last.content.push(...turn.content);
    } else if (turn.results.length + turn.content.length > 0) turns.push(turn);
  }
  // The first turn must be the user's. A transcript that was shortened or begins with a greeting
  // has none.
  if (!continued && turns[0]?.role === "assistant")
    turns.unshift(userTurn("(The conversation goes on.)"));
  endTurns(turns, model);
  return turns.map(({ role, results, content }) => {
    if (results.length === 0) return { role, content };
    return { role, content: content.length === 0 ? results : [...results, ...content] };
  });
}

function userTurn(text: string): Turn {
  return { role: "user", results: [], content: [{ type: "text", text }] };
}

function encodeTurn(message: ReplayMessage, whole: ReadonlySet<unknown>, model: Model): Turn {
  switch (message.role) {
    case "user":
      return { role: "user", results: [], content: message.content.map(encodePart) };
    case "toolResult":
      return encodeResult(message);
    case "assistant":
      return { role: "assistant", results: [], content: encodeAssistant(message, whole, model) };
  }
}

function encodeResult(result: ReplayResult): Turn {
  const parts = result.content.map(encodePart);
  // A result that is an error may hold text only, so its images follow the results.
  const inside = result.isError ? parts.filter((part) => part.type === "text") : parts;
  const content = inside.length > 0 ? inside : [{ type: "text", text: "(no output)" }];
  const block = { type: "tool_result", tool_use_id: result.toolCallId, content };
  return {
    role: "user",
    results: [result.isError ? { ...block, is_error: true } : block],
    content: inside === parts ? [] : parts.filter((part) => part.type !== "text"),
  };
}

function encodeAssistant(
  message: ReplayAssistant,
  whole: ReadonlySet<unknown>,
  { compat }: Model,
): WireBlock[] {
  const encoded = message.content.map((part) => {
    switch (part.type) {
      case "text":
        return signed({ type: "text", text: part.text }, part.textSignature, "citations");
      case "thinking":
        return encodeThinkingPart(part, compat?.replayReasoning === true);
      case "toolCall":
        return encodeCall(part);
      case "opaque":
        return whole.has(part.raw) ? (part.raw as WireBlock) : undefined;
      case "image":
      case "file":
        return undefined; // the server sends none
    }
  });
  const blocks = encoded.filter((block) => block !== undefined);
  while (isThinking(blocks.at(-1))) blocks.pop(); // a turn must not end with thinking
  return blocks;
}

/**
 * Sends thinking unchanged or not at all, since the server checks the text against the signature.
 * Some servers sign nothing and still expect it back.
 */
// Q155, Q157, Q158, Q132
function encodeThinkingPart(part: ThinkingContent, isUnsigned: boolean): WireBlock | undefined {
  const { thinking, thinkingSignature = "", redacted } = part;
  if (isBlank(thinkingSignature))
    return isUnsigned && !isBlank(thinking)
      ? { type: "thinking", thinking, signature: "" }
      : undefined;
  if (redacted === true) return { type: "redacted_thinking", data: thinkingSignature };
  // Encoding would change the text (Q130, Q131).
  if (!thinking.isWellFormed() || thinking.includes("\0")) return undefined;
  return { type: "thinking", thinking, signature: thinkingSignature };
}

function encodeCall(call: ToolCall): WireBlock {
  const { id, name } = call;
  return signed(
    { type: "tool_use", id, name, input: call.arguments },
    call.thoughtSignature,
    "caller",
  );
}

/** Returns the block with the field that the reader stored as JSON in the part's signature. */
function signed(block: WireBlock, signature: string | undefined, field: string): WireBlock {
  // Undefined, which is not sent, if another wire wrote the signature.
  return { ...block, [field]: asRecord(parseJson(signature))[field] };
}

function encodePart(part: UserContent): WireBlock {
  if (part.type === "text") return { type: "text", text: part.text };
  const { url, data, mimeType: media_type } = part;
  const source = url === undefined ? { type: "base64", media_type, data } : { type: "url", url };
  if (part.type === "image") return { type: "image", source };
  const titled = part.name === undefined || isBlank(part.name) ? {} : { title: part.name };
  if (url !== undefined || media_type === "application/pdf")
    return { type: "document", source, ...titled };
  const text = textOf(part);
  // The server refuses a document without text.
  if (isBlank(text)) return { type: "text", text: "(an empty file)" };
  return {
    type: "document",
    source: { type: "text", media_type: "text/plain", data: text },
    ...titled,
  };
}

/**
 * Returns the provider's own blocks that may be sent. The server refuses its tool's call without
 * the result and the result without the call. The result may come turns later, and an answer that
 * was cut or failed may lack either. A call may lack its result only while the model is still
 * working, with no user message since.
 */
// Q161, Q162
function sendable(replay: readonly ReplayMessage[]): ReadonlySet<unknown> {
  const whole = new Set<WireBlock>();
  const calls = new Map<unknown, WireBlock>();
  let sinceUser: WireBlock[] = [];
  for (const message of replay) {
    if (message.role === "user") sinceUser = [];
    for (const part of message.content) {
      const block = asBlock(part);
      if (block === undefined) continue;
      if (block.tool_use_id !== undefined) {
        const call = calls.get(block.tool_use_id);
        if (call !== undefined) whole.add(call).add(block);
      } else if (block.type.endsWith("tool_use") && block.id !== undefined) {
        calls.set(block.id, block);
        sinceUser.push(block);
      } else whole.add(block);
    }
  }
  for (const call of sinceUser) whole.add(call);
  return whole;
}

/** The block of an opaque part, which is this wire's: the replay has no others. */
function asBlock({
  raw,
}: {
  readonly type: string;
  readonly raw?: unknown;
}): WireBlock | undefined {
  return isRecord(raw) && typeof raw.type === "string" ? (raw as WireBlock) : undefined;
}

export function isThinking(block: WireBlock | undefined): boolean {
  return block?.type === "thinking" || block?.type === "redacted_thinking";
}

/**
 * Adjusts a last turn of the model that ends in text, which the model should continue. Such text
 * must not end in white space, and not every model accepts it.
 */
// Q172, Q126, Q173
function endTurns(turns: Turn[], { compat }: Model): void {
  const { role, content } = turns.at(-1) ?? userTurn("");
  const block = content.at(-1);
  if (role !== "assistant" || block?.type !== "text") return;
  if (compat?.prefill === "none") turns.push(userTurn("Go on."));
  else {
    // A NUL may follow the white space.
    const text = (block.text as string).toWellFormed().replaceAll("\0", "");
    content[content.length - 1] = { ...block, text: text.trimEnd() };
  }
}
