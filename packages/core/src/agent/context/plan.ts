/** Plans a compaction: what is kept, what must fit, and the expected size. Pure functions. */
import type { AgentMessage } from "../contract/agent-message.ts";
import { cutPoints } from "./cut.ts";
import { sumTokens, type TokenEstimate } from "./tokens.ts";

export interface Sizes {
  /** Counted tokens of the context, including the system prompt and the tools. */
  readonly before: number;
  /** Estimated tokens of the messages in the request. */
  readonly shown: number;
}

export interface Room {
  /** Tokens of the newest messages to keep. */
  readonly keep: number;
  /** Target size of the context, in tokens. */
  readonly target: number;
  readonly maxSummary: number;
}

/**
 * Returns the maximum size of a request, in tokens. Some servers refuse a request whose answer of
 * `maxTokens` might not fit.
 */
export function limitOf(window: number, reserve: number | undefined, maxTokens = 0): number {
  const usual = Math.min(16_384, window / 4);
  return window - (reserve ?? Math.min(Math.max(usual, maxTokens), window / 2));
}

/**
 * Plans for a size far enough below `limit` that the next turns do not exceed it again. If the
 * limit is too low or unknown, halves the messages.
 */
export function roomFor(
  { before, shown }: Sizes,
  limit: number,
  keepRecent: number,
  maxSummary: number,
): Room {
  // The system prompt, the tools, and the error of the estimate.
  const fixed = Math.max(0, before - shown);
  const available = limit > fixed ? Math.min(limit - fixed, shown) : shown / 2;
  return {
    keep: Math.min(keepRecent, available / 2),
    target: fixed + available * 0.75,
    maxSummary: Math.floor(Math.min(maxSummary, available / 4)),
  };
}

/**
 * Returns the expected size of the context when the estimate of the messages changes from `shown`
 * to `after`.
 */
export function project({ before, shown }: Sizes, after: number): number {
  // If the estimate is too high, scale it down for both.
  return before >= shown ? before - shown + after : (before * after) / Math.max(1, shown);
}

/**
 * Returns the index at which to cut, after `first`. About `keep` tokens remain, and at least the
 * last complete group of messages. Returns `first` if there is no such index.
 */
export function chooseCut(
  messages: readonly AgentMessage[],
  first: number,
  keep: number,
  estimate: TokenEstimate,
): number {
  const points = [first, ...cutPoints(messages, first)];
  let cut = points.pop() ?? first;
  let tokens = sumTokens(messages.slice(cut), estimate);
  for (const point of points.toReversed()) {
    tokens += sumTokens(messages.slice(point, cut), estimate);
    if (tokens > keep) break;
    cut = point;
  }
  return cut;
}
