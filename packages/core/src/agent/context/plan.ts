/** How far a compaction goes: what is kept, what has to fit, and what it would come to. Pure. */
import type { AgentMessage } from "../contract/agent-message.ts";
import { cutPoints } from "./cut.ts";
import { sumTokens, type TokenEstimate } from "./tokens.ts";

export interface Sizes {
  /** The context as counted, with the system prompt and the tools. */
  readonly before: number;
  /** The messages shown, as estimated. */
  readonly shown: number;
}

export interface Room {
  /** Tokens of the newest messages to keep. */
  readonly keep: number;
  /** What the context should come down to. */
  readonly target: number;
  readonly maxSummary: number;
}

/**
 * The most that a request may hold. Some servers refuse one whose answer of `maxTokens` might not
 * fit.
 */
export function limitOf(window: number, reserve: number | undefined, maxTokens = 0): number {
  const usual = Math.min(16_384, window / 4);
  return window - (reserve ?? Math.min(Math.max(usual, maxTokens), window / 2));
}

/**
 * Far enough below `limit` that the next turns do not pass it again; with a limit that is too low
 * or none, what is shown is halved.
 */
export function roomFor(
  { before, shown }: Sizes,
  limit: number,
  keepRecent: number,
  maxSummary: number,
): Room {
  // What is no message: the system prompt and the tools, and what the estimate missed.
  const fixed = Math.max(0, before - shown);
  const available = limit > fixed ? Math.min(limit - fixed, shown) : shown / 2;
  return {
    keep: Math.min(keepRecent, available / 2),
    target: fixed + available * 0.75,
    maxSummary: Math.floor(Math.min(maxSummary, available / 4)),
  };
}

/**
 * What the context comes to when the messages shown are estimated at `after` in place of `shown`.
 */
export function project({ before, shown }: Sizes, after: number): number {
  // Estimates that are too high are so for both.
  return before >= shown ? before - shown + after : (before * after) / Math.max(1, shown);
}

/**
 * Where to cut after `first` so that about `keep` tokens stay, and always the last whole group of
 * messages; `first` for nowhere.
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
