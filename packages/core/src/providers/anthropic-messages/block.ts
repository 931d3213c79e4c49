/** A content block while its events come. */
import { asText, list } from "../../json-value.ts";
import { parseToolArguments } from "../../llm/tool-arguments.ts";
import type { SeenCall } from "../call-proof.ts";
import type { ReaderFacts } from "../protocol.ts";

type Json = Record<string, unknown>;

export interface Block extends SeenCall {
  readonly kind: "text" | "thinking" | "redacted" | "toolCall" | "opaque";
  /** The block as it began; one that stays opaque is completed here. */
  readonly raw: Json;
  /** The part's place in the message, once it is open. */
  contentIndex: number | undefined;
  /** What came before that; of an opaque block the text of its input. */
  held: string;
  signature: string;
  readonly citations: unknown[];
  /** Of a call, the arguments that came in its start. */
  readonly input: string;
  /** Whether text of its arguments came. */
  hasInput: boolean;
  /** Whether anything said what its arguments are, though it be that there are none. */
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
      return "opaque"; // server tools and what is yet to come (Q160, Q161)
  }
}

/** What is in the start already counts. */
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

/** Thinking that has only a signature is not empty. */
// Q158
export function isEmpty({ kind, held, signature }: Block): boolean {
  return (
    (kind === "text" && held === "") || (kind === "thinking" && held === "" && signature === "")
  );
}

/**
 * A longer signature that begins with the one before replaces it; anything else is its next piece.
 */
// Q156
export function joinSignature(known: string, next: string): string {
  return next.length >= known.length && next.startsWith(known) ? next : known + next;
}

/**
 * A delta of a block that we do not know: text is appended to the field of its name, anything else
 * replaces it.
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

/** The raw block with its streamed input in place; input that was cut stays as the start had it. */
export function complete({ raw, held }: Block): Json {
  if (held.trim() === "") return raw;
  const { arguments: input, error } = parseToolArguments(held);
  return error === undefined ? { ...raw, input } : raw;
}

/** Arguments that came in the start; the usual `{}` there is only a placeholder. */
function inputText(input: unknown): string {
  if (typeof input === "string") return input;
  if (typeof input !== "object" || input === null || Object.keys(input).length === 0) return "";
  return JSON.stringify(input);
}
