/** A content block while its events arrive. */
import { asText, list } from "../../json-value.ts";
import { parseToolArguments } from "../../llm/tool-arguments.ts";
import type { SeenCall } from "../call-proof.ts";
import type { ReaderFacts } from "../protocol.ts";

type Json = Record<string, unknown>;

export interface Block extends SeenCall {
  readonly kind: "text" | "thinking" | "redacted" | "toolCall" | "opaque";
  /** The block as it started. An opaque block is completed here. */
  readonly raw: Json;
  /** The index of its part in the message, once it is open. */
  contentIndex: number | undefined;
  /** Content received before the part was open. For an opaque block, the text of its input. */
  held: string;
  signature: string;
  readonly citations: unknown[];
  /** For a call: the arguments in its start event. */
  readonly input: string;
  /** Whether any argument text arrived. */
  hasInput: boolean;
  /** Whether the server sent arguments in any form, including empty ones. */
  saysInput: boolean;
  hasArguments: boolean;
  isClosed: boolean;
  stopped: boolean;
}

function kindOf(type: unknown): Block["kind"] {
  switch (type) {
    case "text":
    case "thinking":
      return type;
    case "redacted_thinking":
      return "redacted";
    case "tool_use":
      return "toolCall";
    default:
      return "opaque"; // server tools, and types of later versions (Q160, Q161)
  }
}

/** Creates a block, including the content that its start event already holds. */
// Q149, Q154
export function createBlock(index: unknown, raw: Json, facts: ReaderFacts): Block {
  const kind = kindOf(raw.type);
  const isCall = kind === "toolCall";
  return {
    kind,
    raw,
    wireId: asText(raw.id),
    place: typeof index === "number" ? index : undefined,
    input: isCall ? inputText(facts.exactly(raw.input)) : "",
    saysInput: isCall && raw.input !== undefined,
    hasArguments: false,
    isClosed: false,
    contentIndex: undefined,
    held: kind === "text" || kind === "thinking" ? asText(raw[kind]) : "",
    signature: asText(kind === "redacted" ? raw.data : raw.signature),
    citations: [...list(raw.citations)],
    hasInput: false,
    stopped: false,
  };
}

/** Returns whether the block is empty. Thinking with only a signature is not. */
// Q158
export function isEmpty({ kind, held, signature }: Block): boolean {
  return (
    (kind === "text" && held === "") || (kind === "thinking" && held === "" && signature === "")
  );
}

/**
 * Joins a signature with its next piece. A longer text that begins with the known one replaces it;
 * any other text is appended.
 */
// Q156
export function joinSignature(known: string, next: string): string {
  return next.length >= known.length && next.startsWith(known) ? next : known + next;
}

/**
 * Applies a delta to a block of unknown type: appends text to the field of its name, and replaces
 * any other value.
 */
export function extend(block: Block, delta: Json): void {
  const { raw } = block;
  for (const [field, value] of Object.entries(delta)) {
    if (field === "type") continue;
    if (field === "partial_json") block.held += asText(value);
    else if (field === "citation") {
      block.citations.push(value);
      raw.citations = block.citations;
    } else raw[field] = typeof value === "string" ? asText(raw[field]) + value : value;
  }
}

/**
 * Returns the raw block with its streamed input. If the input is incomplete, the block keeps the
 * input of its start.
 */
export function complete({ raw, held }: Block): Json {
  if (held.trim() === "") return raw;
  const { arguments: input, error } = parseToolArguments(held);
  return error === undefined ? { ...raw, input } : raw;
}

/** Returns the text of arguments in a start event. The usual `{}` is only a placeholder. */
function inputText(input: unknown): string {
  if (typeof input === "string") return input;
  if (typeof input !== "object" || input === null || Object.keys(input).length === 0) return "";
  return JSON.stringify(input);
}
