/**
 * One compaction, from a transcript and a state to the next state. What it remembers is its
 * caller's.
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
  /** What it must free at least, in tokens. */
  readonly minFreed: number;
  readonly estimate: TokenEstimate;
  /** Writes the summary of what is before `cut`. Absent: nobody does. Never rejects. */
  readonly write?: ((cut: number) => Promise<SummaryResult>) | undefined;
  readonly now: number;
  /** When it fires, everything stays as it was. */
  readonly signal: AbortSignal | undefined;
}

export interface CompactionResult {
  readonly outcome: CompactionOutcome;
  /** Absent when nothing was freed: everything stays as it was. */
  readonly state?: CompactionState;
  readonly tokensAfter: number;
  readonly usage: Usage;
  readonly error?: ErrorInfo;
}

/**
 * How short tool results are made when what is kept does not fit otherwise, in tokens: the first
 * that does.
 */
const resultLengths = [8192, 2048, 512, 128];

/**
 * The model is asked only when a summary of full length would free enough: so each one it writes is
 * progress.
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

  /** A single result can be larger than all there is room for. */
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
