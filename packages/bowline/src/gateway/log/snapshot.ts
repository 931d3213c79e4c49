/**
 * Fits a run's blocks into one frame. Keeps the last blocks, shortens the one that does not fit,
 * and omits the first.
 */
import type { Block } from "../protocol/protocol.ts";

/** Shortest text of a shortened block; below it the block is omitted. */
const MIN_TEXT = 100;
/** Reserved for the note about omitted blocks. */
const MARK_BYTES = 200;

/** Returns the last blocks, at most `maxBytes` as JSON. Blocks that fit are unchanged. */
export function snapshotBlocks(blocks: readonly Block[], maxBytes: number): Block[] {
  const shown: Block[] = [];
  let left = maxBytes - MARK_BYTES;
  for (const block of blocks.toReversed()) {
    const short = fitted(block, left);
    if (short === undefined) break;
    left -= bytesOf(short);
    shown.push(short);
  }
  const missing = blocks.length - shown.length;
  if (missing > 0)
    shown.push({ type: "text", turn: 0, text: `[${missing} earlier parts left out]\n` });
  return shown.toReversed();
}

/** Returns undefined if even the shortened block does not fit. */
function fitted(block: Block, maxBytes: number): Block | undefined {
  if (bytesOf(block) <= maxBytes) return block;
  return shortened(block, maxBytes, Math.floor(maxBytes * 0.75));
}

/** Tries texts of `length` characters, then of half as many each time. */
function shortened(block: Block, maxBytes: number, length: number): Block | undefined {
  if (length < MIN_TEXT) return undefined;
  const short = shorten(block, length);
  if (bytesOf(short) <= maxBytes) return short;
  return shortened(block, maxBytes, Math.floor(length / 2));
}

function bytesOf(block: Block): number {
  return Buffer.byteLength(JSON.stringify(block)) + 1;
}

function shorten(block: Block, length: number): Block {
  if (block.type !== "tool_call") return { ...block, text: cutMiddle(block.text, length) };
  return {
    ...block,
    arguments: cutArguments(block.arguments, length),
    output: cutMiddle(block.output, length),
  };
}

/** Shortens texts inside the arguments if that is enough, else the whole JSON. */
function cutArguments(args: unknown, length: number): unknown {
  if (sizeOf(args) <= length) return args;
  const short = cutTexts(args, Math.floor(length / 4));
  return sizeOf(short) <= length ? short : cutMiddle(JSON.stringify(short), length);
}

function cutTexts(value: unknown, length: number): unknown {
  if (typeof value === "string") return cutMiddle(value, length);
  if (Array.isArray(value)) return value.map((item) => cutTexts(item, length));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [name, cutTexts(part, length)]),
  );
}

function sizeOf(value: unknown): number {
  return value === undefined ? 0 : JSON.stringify(value).length;
}

/** Cuts the middle. The end stays because further deltas are appended to it. */
function cutMiddle(text: string, length: number): string {
  if (text.length <= length) return text;
  const half = Math.floor(length / 2);
  const head = text.slice(0, half).replace(/[\uD800-\uDBFF]$/, "");
  const tail = text.slice(text.length - half).replace(/^[\uDC00-\uDFFF]/, "");
  return `${head}\n[${text.length - head.length - tail.length} characters left out]\n${tail}`;
}
