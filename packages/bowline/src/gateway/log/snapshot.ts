/**
 * A run's blocks as one frame can carry them: the last whole, what does not fit cut in the middle,
 * the first left out.
 */
import type { Block } from "../protocol/protocol.ts";

/** A text that would have to be shorter is left out. */
const MIN_TEXT = 100;
/** For what stands in place of blocks that are left out. */
const MARK_BYTES = 200;

/**
 * The last blocks, which take `maxBytes` together at most, as JSON. What fits is given as it is.
 */
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

/** Undefined for a block that has no room. */
function fitted(block: Block, maxBytes: number): Block | undefined {
  if (bytesOf(block) <= maxBytes) return block;
  for (
    let length = Math.floor(maxBytes * 0.75);
    length >= MIN_TEXT;
    length = Math.floor(length / 2)
  ) {
    const short = shorten(block, length);
    if (bytesOf(short) <= maxBytes) return short;
  }
  return undefined;
}

function bytesOf(block: Block): number {
  return Buffer.byteLength(JSON.stringify(block)) + 1;
}

function shorten(block: Block, length: number): Block {
  if (block.type !== "tool_call")
    return block.text.length <= length ? block : { ...block, text: cutMiddle(block.text, length) };
  return {
    ...block,
    arguments: cutArguments(block.arguments, length),
    output: cutMiddle(block.output, length),
  };
}

/** Its fields stay where that is enough. */
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

/** The end stays, too: what comes next follows it. */
function cutMiddle(text: string, length: number): string {
  if (text.length <= length) return text;
  const half = Math.floor(length / 2);
  const head = text.slice(0, half).replace(/[\uD800-\uDBFF]$/, "");
  const tail = text.slice(text.length - half).replace(/^[\uDC00-\uDFFF]/, "");
  return `${head}\n[${text.length - head.length - tail.length} characters left out]\n${tail}`;
}
