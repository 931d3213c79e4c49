/** Messages that begin runs, runs and approvals, as the database has them. */
import type { Entry, QueueKind, RunEnd, SessionMessage } from "@bowline/core/session";

/** A message that begins a run once the session's earlier runs have ended. */
export interface StartInput {
  /** The client's id of the message: 1 to 512 characters. */
  readonly id: string;
  readonly queue: "start";
  readonly message: SessionMessage;
  /** The id of the run: 1 to 256 characters. */
  readonly runId: string;
  /** The name of the agent: 1 to 512 characters. */
  readonly agent?: string | undefined;
  /** Data for the run: JSON of at most 16 kB. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  /** The user who sent it: 1 to 512 characters. */
  readonly owner?: string | undefined;
  /** The largest number of open runs that the owner may have, over all sessions. Default: any. */
  readonly maxOwned?: number | undefined;
}

/** A message that no run has, or that is not in the transcript of its run yet. */
export interface WaitingInput {
  readonly id: string;
  readonly queue: QueueKind | "start";
  readonly message: SessionMessage;
  /** When it was pushed first, in milliseconds since the epoch. */
  readonly at: number;
  /** The message goes in with the next message that begins a run, before it. */
  readonly isHeld?: true;
  /** How often a run has taken the message and put it back. Absent: never. */
  readonly returns?: number;
  /** The run that a `start` message begins. */
  readonly runId?: string;
  readonly agent?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export interface WaitingMessage extends WaitingInput {
  readonly sessionId: string;
  /** Where the next page begins. */
  readonly position: string;
}

/** A message that was cancelled. */
export interface CancelledInput {
  readonly id: string;
  readonly queue: QueueKind | "start";
  /** The run that a `start` message would have begun. */
  readonly runId?: string;
}

export interface RunFilter {
  readonly sessionId?: string | undefined;
  /** Only runs that began with a message of this owner. */
  readonly owner?: string | undefined;
  /** The largest number of results, 1 to 10,000. Default 1,000. */
  readonly limit?: number | undefined;
}

/** A run that has not ended. Nested runs are part of theirs. */
export interface OpenRun {
  readonly sessionId: string;
  readonly runId: string;
  /** `queued` until the entry `run_start` is written. */
  readonly state: "queued" | "running";
  /** Since when it is in this state, in milliseconds since the epoch. */
  readonly at: number;
}

/** A running run in a list of all sessions. */
export interface ListedRun extends OpenRun {
  /** Where the next page begins. */
  readonly position: string;
}

export interface FoundRun {
  readonly sessionId: string;
  readonly state: "queued" | "running" | "ended";
  /** How it ended. `cancelled`: before it began. */
  readonly reason?: RunEnd | "cancelled";
}

export interface ApprovalFilter {
  readonly sessionId?: string | undefined;
  /** Only sessions whose ids begin with this. */
  readonly beginning?: string | undefined;
  /** The largest number of results, 1 to 10,000. Default 1,000. */
  readonly limit?: number | undefined;
}

/** An approval that a running run waits for, and that nobody has answered. */
export interface OpenApproval {
  readonly sessionId: string;
  readonly approvalId: string;
  readonly runId: string;
  /** The number of the request's entry. */
  readonly seq: number;
  /** Milliseconds since the epoch. Absent: no limit. */
  readonly expiresAt?: number;
  /** The request's entry, with its arguments. */
  readonly request: Extract<Entry, { type: "approval_request" }>;
}

/** What a person says to an approval. */
export interface ApprovalAnswer {
  readonly decision: "allow" | "deny";
  /** Who answered. */
  readonly by?: string | undefined;
  /** With `deny`: the reason that the model gets. */
  readonly reason?: string | undefined;
  /** With `allow`: later calls of the tool in the session need no approval. */
  readonly remember?: "session" | undefined;
}

export interface StoredAnswer extends ApprovalAnswer {
  /** When it was stored, in milliseconds since the epoch. */
  readonly at: number;
}

/** What became of an answer. */
export type AnswerPlace =
  /** The answer that counts: this one, or an earlier one. */
  | { readonly state: "stored"; readonly answer: StoredAnswer }
  /** The time limit of the approval was over. */
  | { readonly state: "late" }
  /** No run waits for it any more. */
  | { readonly state: "closed" }
  | { readonly state: "unknown" };

/** An answer that its run may not have. */
export interface AnsweredApproval {
  readonly sessionId: string;
  readonly approvalId: string;
  readonly answer: StoredAnswer;
  /** Where the next page begins. */
  readonly position: string;
}

export interface FoundApproval {
  readonly sessionId: string;
  /** Whether a running run waits for the answer. Its time limit may be over. */
  readonly isOpen: boolean;
}
