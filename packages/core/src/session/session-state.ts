/** Where a session stands: its model, and its last run with whatever that left open. */
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
import { pathTo, type ReadEntries } from "./path.ts";

type EntryOf<T extends Entry["type"]> = Extract<Entry, { type: T }>;

export interface SessionState {
  readonly model?: SessionModel;
  /** The last run that is not another's; absent before the first. */
  readonly run?: RunState;
  /** Messages that wait for a run to take them, in the order in which they came. */
  readonly queued?: readonly QueuedMessage[];
}

export interface QueuedMessage {
  /** Of its `queued` entry. */
  readonly id: string;
  readonly queue: QueueKind;
  readonly message: SessionMessage;
}

export interface RunState {
  readonly runId: string;
  /** How it ended; absent while it is open, because it goes on or because its process died. */
  readonly reason?: RunEnd;
  /**
   * False when nothing of it was kept but its start: its prompt came to no one, and there is
   * nothing to go on with.
   */
  readonly hasBegun: boolean;
  /** It was told to stop. */
  readonly isAborted: boolean;
  /** Answers of the model so far, by which steps are numbered. */
  readonly turns: number;
  /** What those answers were billed, and `usage` entries: retries, summaries and sub-agents too. */
  readonly usage: Usage;
  /** Tool calls by their idempotency key, in the order in which they began. */
  readonly calls: ReadonlyMap<string, RecordedCall>;
  /** Approvals that were asked for and have no answer. */
  readonly openApprovals: readonly EntryOf<"approval_request">[];
  /** Approvals whose last question was answered, by their ids. */
  readonly answers: ReadonlyMap<string, RecordedAnswer>;
}

export interface RecordedAnswer {
  readonly request: EntryOf<"approval_request">;
  readonly answer: EntryOf<"approval_answer">;
}

/** Without a result the call is in doubt: it began, and nobody knows how it ended. */
export interface RecordedCall {
  readonly intent: EntryOf<"tool_intent">;
  readonly result?: EntryOf<"tool_result">;
}

/**
 * The state at an entry (default: the last). Reads no further back than to where the run that was
 * the last there began, and to the messages that waited then.
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

/** Runs that a run's tool started are part of it. */
function isStart(entry: Entry): entry is EntryOf<"run_start"> {
  return entry.type === "run_start" && entry.parentRunId === undefined;
}

function queuedIn(entries: readonly Entry[]): QueuedMessage[] {
  let queued: QueuedMessage[] = [];
  for (const entry of entries) {
    if (entry.type === "queued")
      queued.push({ id: entry.id, queue: entry.queue, message: entry.message });
    else if (entry.type === "queue_clear")
      queued = queued.filter(({ queue }) => queue !== entry.queue);
    else if (entry.type === "message") queued = queued.filter(({ id }) => id !== entry.queuedId);
    // A run knows what waits: what it does not name was left behind by a rewind.
    else if (isStart(entry))
      queued = queued.filter(({ id }) => entry.queuedIds?.includes(id) === true);
  }
  return queued;
}

function runState({ runId, continues }: EntryOf<"run_start">, entries: readonly Entry[]): RunState {
  const calls = new Map<string, RecordedCall>();
  const approvals = new Map<string, EntryOf<"approval_request">>();
  const answers = new Map<string, RecordedAnswer>();
  let reason: RunEnd | undefined;
  let hasBegun = continues === true;
  let isAborted = false;
  let turns = 0;
  let usage: Usage = {};
  for (const entry of entries) {
    switch (entry.type) {
      case "run_end":
        if (entry.runId === runId) ({ reason } = entry);
        break;
      case "message":
        hasBegun ||= entry.runId === runId;
        if (entry.runId !== runId || entry.message.role !== "assistant") break;
        turns++;
        usage = addUsage(usage, billedUsage(entry.message as AssistantMessage));
        break;
      case "usage":
        usage = addUsage(usage, billedUsage(entry));
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
      case "run_start":
      case "reopen":
      case "queued":
      case "queue_clear":
      case "model_change":
      case "compaction":
      case "label":
      case "title":
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
    usage,
    calls,
    openApprovals,
    answers,
  };
}
