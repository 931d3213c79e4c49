/**
 * One compaction: computes the next state from a transcript and a state. It stores nothing itself.
 */
import { toErrorInfo, type ErrorInfo } from "../../errors.ts";
import { defined } from "../../json-value.ts";
import type { Usage } from "../../llm/usage.ts";
import type { AgentMessage } from "../contract/agent-message.ts";
import type { CompactionOutcome } from "../contract/compaction-event.ts";
import { chooseCut, project, type Room, type Sizes } from "./plan.ts";
import type { SummaryResult } from "./summary.ts";
import { sumTokens, type TokenEstimate } from "./tokens.ts";
import { compactedView, markOf, type CompactionState } from "./view.ts";

export interface CompactionTask {
  readonly messages: readonly AgentMessage[];
  /** The state so far. */
  readonly old: CompactionState | undefined;
  readonly sizes: Sizes;
  readonly room: Room;
  /** Minimum number of tokens to free. */
  readonly minFreed: number;
  readonly estimate: TokenEstimate;
  /**
   * Writes the summary of the messages before `cut`. Never rejects. Absent when no model can write
   * it.
   */
  readonly write?: ((cut: number) => Promise<SummaryResult>) | undefined;
  readonly now: number;
  /** When it fires, the state does not change. */
  readonly signal: AbortSignal | undefined;
}

export interface CompactionResult {
  readonly outcome: CompactionOutcome;
  /** The next state. Absent when nothing was freed and the state does not change. */
  readonly state?: CompactionState;
  readonly tokensAfter: number;
  readonly usage: Usage;
  readonly error?: ErrorInfo;
}

/** Lengths in tokens to which tool results are shortened if needed. The first that fits is used. */
const resultLengths = [8192, 2048, 512, 128];

/**
 * Compacts once. Calls the model only if a summary of maximum length would free enough, so that
 * every summary frees tokens.
 */
export async function compactOnce(task: CompactionTask): Promise<CompactionResult> {
  const { messages, sizes, room, minFreed, estimate, write, now, signal } = task;
  const { before } = sizes;
  const old = task.old ?? { summary: "", firstKeptIndex: 0, messageCount: 0 };
  const cut = chooseCut(messages, old.firstKeptIndex, room.keep, estimate);
  const base = { messageCount: messages.length, timestamp: now };
  const cutBase = { ...base, firstKeptIndex: cut, mark: markOf(messages, cut) };
  const sizeOf = (state: CompactionState): number =>
    project(sizes, sumTokens(compactedView(messages, state), estimate));

  let result: SummaryResult = { usage: {} };
  let outcome: CompactionOutcome = "shortened";
  const { tokensAfter: _, maxResultTokens: __, ...rest } = old;
  let state: CompactionState = { ...rest, ...base };
  const atMost = sizeOf({ ...cutBase, summary: "" }) + (write === undefined ? 0 : room.maxSummary);
  if (cut > old.firstKeptIndex && before - atMost >= minFreed) {
    result = (await write?.(cut)) ?? result;
    const { summary } = result;
    outcome = summary === undefined ? "dropped" : "summarized";
    const dropped = { summary: old.summary, droppedFrom: old.droppedFrom ?? old.firstKeptIndex };
    state = { ...cutBase, ...(summary === undefined ? dropped : { summary }) };
  }
  const fitted = fit(state);
  const about = {
    usage: result.usage,
    ...defined({ error: result.error && toErrorInfo(result.error) }),
  };
  if (before - fitted.size < minFreed || signal?.aborted)
    return { outcome: "none", tokensAfter: before, ...about };
  const tokensAfter = Math.round(fitted.size);
  return { outcome, state: { ...fitted.state, tokensAfter }, tokensAfter, ...about };

  /**
   * Shortens tool results until the state fits, because a single result can exceed the whole room.
   */
  function fit(candidate: CompactionState): { state: CompactionState; size: number } {
    let best = { state: candidate, size: sizeOf(candidate) };
    for (const maxResultTokens of resultLengths) {
      if (best.size <= room.target) break;
      const shorter = { ...candidate, maxResultTokens };
      const size = sizeOf(shorter);
      if (size < best.size) best = { state: shorter, size };
    }
    return best;
  }
}
