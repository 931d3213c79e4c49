/** The state of a session: its model, its last run, and the run's pending calls and approvals. */
import type { StepResult } from "../agent/contract/step.ts";
import { defined } from "../json-value.ts";
import type { AssistantMessage } from "../llm/message.ts";
import { addUsage, billedUsage, type Usage } from "../llm/usage.ts";
import {
  isKnownEntry,
  modelIn,
  type Entry,
  type QueueKind,
  type RunEnd,
  type SessionMessage,
  type SessionModel,
} from "./entry.ts";
import { partialAnswerIn } from "./partial-answer.ts";
import { pathTo, type ReadEntries } from "./path.ts";

type EntryOf<T extends Entry["type"]> = Extract<Entry, { type: T }>;

export interface SessionState {
  readonly model?: SessionModel;
  /** The last run, not counting nested ones. Absent before the first run. */
  readonly run?: RunState;
  /** Pending messages of the queues, in order of queueing. */
  readonly queued?: readonly QueuedMessage[];
}

export interface QueuedMessage {
  /** Id of its `queued` entry. */
  readonly id: string;
  readonly queue: QueueKind;
  readonly message: SessionMessage;
}

export interface RunState {
  readonly runId: string;
  /** How the run ended. Absent while it is running, or if its process died. */
  readonly reason?: RunEnd;
  /**
   * False when only the start of the run was recorded. Its prompt is not in the log, so it cannot
   * be resumed.
   */
  readonly hasBegun: boolean;
  /** Whether the run was aborted. */
  readonly isAborted: boolean;
  /** Number of the model's answers so far. Steps are numbered by it. */
  readonly turns: number;
  /**
   * Usage of those answers, of `usage` entries and of results of tools, including retries, summaries
   * and sub-agents.
   */
  readonly usage: Usage;
  /** Estimated tokens of those calls that servers did not report. Absent when there are none. */
  readonly guess?: number;
  /** The end of the run's time budget, in milliseconds since the epoch. Absent without one. */
  readonly deadline?: number;
  /**
   * The answer that was streaming, as far as its text was saved: a message with the stop reason
   * `aborted`. Absent when there is none, and once the answer's own message is in the log.
   */
  readonly partialAnswer?: AssistantMessage;
  /** Tool calls by their idempotency key, in order of their start. */
  readonly calls: ReadonlyMap<string, RecordedCall>;
  /** Approval requests without an answer. */
  readonly openApprovals: readonly EntryOf<"approval_request">[];
  /** Approvals whose last request was answered, by their ids. */
  readonly answers: ReadonlyMap<string, RecordedAnswer>;
}

export interface RecordedAnswer {
  readonly request: EntryOf<"approval_request">;
  readonly answer: EntryOf<"approval_answer">;
}

/** A tool call in the log. Without a result, its outcome is unknown. */
export interface RecordedCall {
  readonly intent: EntryOf<"tool_intent">;
  readonly result?: EntryOf<"tool_result">;
}

/**
 * Returns the state at an entry (default: the last). Reads back to the start of the last run at
 * that entry, and to the messages that were queued then.
 */
export async function sessionState(read: ReadEntries, at?: string): Promise<SessionState> {
  let hasModel = false;
  let hasRun = false;
  const waited = new Set<string>();
  const path = await pathTo(read, at, (entry) => {
    if (!isKnownEntry(entry)) return false;
    hasModel ||=
      entry.type === "model_change" || (entry.type === "run_start" && entry.model !== undefined);
    waited.delete(entry.id);
    if (!hasRun && isStart(entry)) {
      hasRun = true;
      for (const id of entry.queuedIds ?? []) waited.add(id);
    }
    return hasModel && hasRun && waited.size === 0;
  });
  const entries = path.filter(isKnownEntry);
  const model = entries.findLast((entry) => modelIn(entry) !== undefined);
  const begin = entries.findLastIndex(isStart);
  const queued = queuedIn(entries);
  return {
    ...(model && { model: modelIn(model) as SessionModel }),
    ...(begin >= 0 && {
      run: runState(entries[begin] as EntryOf<"run_start">, entries.slice(begin)),
    }),
    ...(queued.length > 0 && { queued }),
  };
}

/** Returns whether an entry starts a run. A nested run is part of the run that started it. */
function isStart(entry: Entry): entry is EntryOf<"run_start"> {
  return entry.type === "run_start" && entry.parentRunId === undefined;
}

function queuedIn(entries: readonly Entry[]): QueuedMessage[] {
  let queued: QueuedMessage[] = [];
  for (const entry of entries) {
    if (entry.type === "queued") queued = withQueued(queued, entry);
    else if (entry.type === "queue_remove")
      queued = queued.filter(({ id }) => id !== entry.queuedId);
    else if (entry.type === "queue_clear")
      queued = queued.filter(({ queue }) => queue !== entry.queue);
    else if (entry.type === "message") queued = queued.filter(({ id }) => id !== entry.queuedId);
    // A run names the pending messages in their order. Others were dropped by a rewind.
    else if (isStart(entry)) {
      const known = queued;
      queued = (entry.queuedIds ?? []).flatMap((id) => known.find((one) => one.id === id) ?? []);
    }
  }
  return queued;
}

function withQueued(
  queued: readonly QueuedMessage[],
  { id, queue, message, beforeId }: EntryOf<"queued">,
): QueuedMessage[] {
  const place = queued.findIndex((one) => one.id === beforeId);
  return queued.toSpliced(place < 0 ? queued.length : place, 0, { id, queue, message });
}

function runState(start: EntryOf<"run_start">, entries: readonly Entry[]): RunState {
  const { runId, continues, deadline } = start;
  const calls = new Map<string, RecordedCall>();
  const approvals = new Map<string, EntryOf<"approval_request">>();
  const answers = new Map<string, RecordedAnswer>();
  let reason: RunEnd | undefined;
  let hasBegun = continues === true;
  let isAborted = false;
  let turns = 0;
  for (const entry of entries) {
    switch (entry.type) {
      case "run_end":
        if (entry.runId === runId) ({ reason } = entry);
        break;
      case "message":
        hasBegun ||= entry.runId === runId;
        if (entry.runId !== runId || entry.message.role !== "assistant") break;
        turns++;
        break;
      case "tool_intent":
        calls.set(entry.idempotencyKey, { intent: entry });
        break;
      case "tool_result": {
        const call = calls.get(entry.idempotencyKey);
        if (call !== undefined) calls.set(entry.idempotencyKey, { ...call, result: entry });
        break;
      }
      case "approval_request":
        approvals.set(entry.approvalId, entry);
        answers.delete(entry.approvalId);
        break;
      case "approval_answer": {
        const request = approvals.get(entry.approvalId);
        approvals.delete(entry.approvalId);
        if (request !== undefined) answers.set(entry.approvalId, { request, answer: entry });
        break;
      }
      case "abort":
        isAborted ||= entry.runId === runId;
        break;
      case "usage":
      case "run_start":
      case "reopen":
      case "queued":
      case "queue_remove":
      case "queue_clear":
      case "model_change":
      case "compaction":
      case "compaction_undo":
      case "label":
      case "title":
      case "streamed_text":
        break;
    }
  }
  const openApprovals = [...approvals.values()];
  return {
    runId,
    ...(reason && { reason }),
    hasBegun,
    isAborted,
    turns,
    ...usedIn(entries, runId),
    ...defined({ deadline, partialAnswer: partialAnswerIn(entries, runId) }),
    calls,
    openApprovals,
    answers,
  };
}

/** Sums up what a run used. */
function usedIn(entries: readonly Entry[], runId: string): Pick<RunState, "usage" | "guess"> {
  let usage: Usage = {};
  let guess = 0;
  for (const entry of entries)
    if (entry.type === "usage") usage = addUsage(usage, billedUsage(entry));
    else if (entry.type === "tool_result") {
      // Nested runs have `usage` entries of their own, which lack only what was estimated.
      const { usage: added = {}, nested } = (entry.result ?? {}) as StepResult;
      usage = addUsage(usage, added);
      guess += nested?.guess ?? 0;
    } else if (entry.type === "message" && entry.runId === runId && isAnswer(entry.message)) {
      usage = addUsage(usage, billedUsage(entry.message));
      guess += entry.guess ?? 0;
    }
  return { usage, ...(guess > 0 && { guess }) };
}

function isAnswer(message: SessionMessage): message is AssistantMessage {
  return message.role === "assistant";
}
