/**
 * Sessions for durable engines: epochs, appends that are idempotent by a key, an inbox, and the runs
 * of all sessions. Each call for one session is a transaction under the session's row lock, and holds
 * nothing afterwards.
 */
import type {
  AnyEntry,
  EntryBody,
  QueueKind,
  SessionHeader,
  SessionMessage,
} from "@bowline/core/session";
import type { AllowRule, RuleFilter, StoredRule } from "./rules.ts";
import type {
  AnsweredApproval,
  AnswerPlace,
  ApprovalAnswer,
  ApprovalFilter,
  CancelledInput,
  FoundApproval,
  FoundRun,
  ListedRun,
  OpenApproval,
  OpenRun,
  RunFilter,
  StartInput,
  StoredAnswer,
  WaitingInput,
  WaitingMessage,
} from "./run-types.ts";

/** An entry to append. Its id is the key. */
export interface DurableItem {
  /** Unique in the session, the same in every attempt: 1 to 512 characters. */
  readonly key: string;
  readonly body: EntryBody;
  /** Milliseconds since the epoch. Default: now. */
  readonly timestamp?: number | undefined;
  /** Id of the entry before. `null`: none. Default: the last entry of the session. */
  readonly parentId?: string | null | undefined;
  /**
   * The client's id of the message that the entry puts into the transcript. A run that is interrupted
   * before leaves the message in the inbox.
   */
  readonly messageId?: string | undefined;
}

/** A message for a run that is going on, or for the next one. */
export interface QueuedInput {
  /** The client's id of the message: 1 to 512 characters. */
  readonly id: string;
  readonly queue: QueueKind;
  readonly message: SessionMessage;
  /** The name of the agent, if the message begins a run: 1 to 512 characters. */
  readonly agent?: string | undefined;
}

/** A message that a drain has taken. */
export interface InboxMessage extends Omit<QueuedInput, "agent"> {
  /** When it was pushed first, in milliseconds since the epoch. */
  readonly at: number;
  /** It was left by an earlier run, and goes in before the message that begins this one. */
  readonly isHeld?: true;
}

/** Names a drain for ever. */
export interface DrainName {
  readonly runId: string;
  /** Unique in the run, the same in every attempt, such as the number of the turn. */
  readonly name: string;
}

/** What a run begins with. */
export interface RunBeginning extends DrainName {
  /**
   * Names the engine's invocation for ever: 1 to 512 characters, the same in every attempt. Another
   * invocation for the same message does not begin the run again.
   */
  readonly by: string;
  /** The message that begins the run. Undefined: those of the queues begin it. */
  readonly messageId?: string | undefined;
  /** The entries of its start. */
  readonly items: readonly DurableItem[];
}

/** How a run ends. */
export interface RunClosing {
  readonly runId: string;
  /** The entries of its end. */
  readonly items: readonly DurableItem[];
  /** Ids of messages that the run has taken from the queues and not used. */
  readonly left: readonly string[];
  /**
   * Whether the messages that wait then in the queues `steering` and `followUp` are held: they go in
   * with the next message that begins a run, before it, and begin none themselves.
   */
  readonly isHolding: boolean;
}

/** What became of a run that was to begin. */
export type BegunRun =
  | {
      readonly state: "begun";
      /** The messages of the queues. */
      readonly taken: readonly InboxMessage[];
      readonly entries: readonly AnyEntry[];
    }
  /** Another run or invocation has the message, or nobody gets it. */
  | Exclude<MessagePlace, { readonly state: "pending" }>
  /** No message was waiting. */
  | { readonly state: "idle" };

/** Where a client's message is. */
export type MessagePlace =
  /** In its queue. `runId` is the run that a `start` message will begin. */
  | { readonly state: "pending"; readonly runId?: string }
  /** In this run, which it began or which took it from its queue. */
  | { readonly state: "taken"; readonly runId: string }
  /** A `start` message that was cancelled. The run never begins. */
  | { readonly state: "cancelled"; readonly runId: string };

/**
 * For engines that know which of their processes runs. Every method may be called again with the
 * same arguments, and then changes nothing. Rejects with `not_found` for a missing session, with
 * `session_locked` for an old epoch (see {@link isSessionFenced}), and with `storage_failed` when the
 * database fails.
 */
export interface DurableSessions {
  /** Creates a session unless it exists. Resolves with its header as stored. Takes no lock. */
  ensure(header: SessionHeader): Promise<SessionHeader>;
  /**
   * Takes the next epoch of a session. From then on, every other writer is refused. Called again, it
   * takes another one.
   */
  takeEpoch(sessionId: string): Promise<number>;
  /**
   * Appends entries in one transaction. An entry whose key exists is not written again: the stored
   * one is returned, whatever its body. The others get the next `seq`. With an undefined epoch the
   * append is not refused, and refuses a {@link SessionWriter} that is open: for a title or an
   * answer to an approval during a run.
   *
   * A `run_end` with the reason `interrupted`, and the start of another run, put the messages back that
   * the run has taken and that no entry has, by `messageId`. They are held, and have their places.
   */
  append(
    sessionId: string,
    epoch: number | undefined,
    items: readonly DurableItem[],
  ): Promise<readonly AnyEntry[]>;
  /**
   * Begins the conversation anew: appends entries of which the first one follows none. Resolves with
   * false and changes nothing while a run is going on, whose entries would follow these.
   */
  rewind(sessionId: string, items: readonly DurableItem[]): Promise<boolean>;
  /**
   * Puts a message into the inbox, once for its id. Returns where the message is: a run may have it
   * already. A `start` message whose `runId` is that of a run which has begun counts as taken by it.
   * Rejects with `rate_limited`, retryable, if its owner has `maxOwned` open runs, and with
   * `invalid_argument` if another message is to begin the same run.
   */
  push(sessionId: string, input: QueuedInput | StartInput): Promise<MessagePlace>;
  /**
   * Takes all waiting messages of the queues `steering` and `followUp`: held ones first, each in the
   * order of pushing. The same drain, called again, returns the same messages, also if there were none.
   */
  drain(sessionId: string, epoch: number, by: DrainName): Promise<readonly InboxMessage[]>;
  /**
   * Begins a run: gives its message to it, takes the messages of the queues as `drain` does, and appends
   * entries. All or nothing, so that no message has a run that never begins. Writes no entry if there is
   * no message for the run. A message that was never pushed counts as cancelled: it was deleted with its
   * session, and a session was created under the same id since.
   */
  begin(sessionId: string, epoch: number, run: RunBeginning): Promise<BegunRun>;
  /**
   * Ends a run: appends entries, and puts messages back that drains of this run have taken. They have
   * the places in their queues that they had before. All or nothing.
   */
  end(sessionId: string, epoch: number, run: RunClosing): Promise<void>;
  /** Returns the number of messages that wait in these queues and are not held. */
  pending(sessionId: string): Promise<number>;
  /**
   * Gives a client's message to a run, once and for ever. Returns the run that has it: this one, or
   * an earlier one, whose message must not run again; or that it was cancelled.
   */
  claimRun(
    sessionId: string,
    messageId: string,
    runId: string,
  ): Promise<Exclude<MessagePlace, { readonly state: "pending" }>>;
  /** Returns where a client's message is. Undefined for an unknown one. */
  findMessage(sessionId: string, messageId: string): Promise<MessagePlace | undefined>;
  /**
   * Returns the first 1,000 messages that no run has: `steering`, then `followUp`, then `start`, each
   * in the order of pushing, as runs take them. With `isTaken`, those that a running run has taken and
   * that its transcript does not have yet come first.
   */
  waiting(
    sessionId: string,
    options?: { readonly isTaken?: boolean },
  ): Promise<readonly WaitingInput[]>;
  /**
   * Returns messages of all sessions that were pushed before a moment, that no run has and that are
   * not held, oldest first: for a gateway that tells the engine again. `before` is in milliseconds since the epoch,
   * `limit` 1 to 10,000, `after` the position of the last message of the page before.
   */
  waitingSince(before: number, limit: number, after?: string): Promise<readonly WaitingMessage[]>;
  /**
   * Cancels messages that no run has, or only those with these ids. Returns the cancelled ones in the
   * order of `waiting`. A `start` message stays cancelled, also if it is sent again. Others are
   * removed.
   */
  cancel(sessionId: string, ids?: readonly string[]): Promise<readonly CancelledInput[]>;
  /** Returns the runs that have not ended, those that are longest in their state first. */
  openRuns(filter?: RunFilter): Promise<readonly OpenRun[]>;
  /**
   * Returns running runs of all sessions that began before a moment, oldest first: for a gateway that
   * compares them with the engine's. The arguments are those of `waitingSince`.
   */
  runningSince(before: number, limit: number, after?: string): Promise<readonly ListedRun[]>;
  /** Returns how many runs wait and run, over all sessions. */
  countRuns(): Promise<{ readonly queued: number; readonly running: number }>;
  /**
   * Returns the sessions that have a run with this id, at most 2. The runs that a fork has copied are
   * not its own.
   */
  findRun(runId: string): Promise<readonly FoundRun[]>;
  /**
   * Returns the approvals that running runs wait for and that nobody has answered, in the order of their
   * sessions' creation.
   */
  openApprovals(filter?: ApprovalFilter): Promise<readonly OpenApproval[]>;
  /** Returns the sessions that have an approval with this id, at most 2. */
  findApproval(approvalId: string): Promise<readonly FoundApproval[]>;
  /**
   * Stores the answer to an approval. The first one counts, and is returned. Then tell the engine: a run
   * that does not wait yet finds the answer with `findAnswer`. Rejects with `invalid_argument` for what
   * is no answer.
   */
  answer(sessionId: string, approvalId: string, answer: ApprovalAnswer): Promise<AnswerPlace>;
  /**
   * Returns the answer to an approval. Undefined without one. With `isClosing`, none is taken from then
   * on: for a run whose time limit is over.
   */
  findAnswer(
    sessionId: string,
    approvalId: string,
    options?: { readonly isClosing?: boolean },
  ): Promise<StoredAnswer | undefined>;
  /**
   * Returns answers of all sessions that were given before a moment and whose runs have not gone on with
   * them, oldest first: for a gateway that tells the engine again. The arguments are those of
   * `waitingSince`.
   */
  answeredSince(
    before: number,
    limit: number,
    after?: string,
  ): Promise<readonly AnsweredApproval[]>;
  /**
   * Adds a rule, once for its key of 1 to 512 characters. A rule of a session is deleted with it.
   * Rejects with `not_found` for a missing session, and with `invalid_state` at 1,000 rules of one
   * session or for all sessions.
   */
  addRule(key: string, rule: AllowRule): Promise<void>;
  /** Removes a rule, if it is there. */
  removeRule(key: string): Promise<void>;
  /** Returns the first 10,000 rules, those that were added first before the others. */
  rules(filter?: RuleFilter): Promise<readonly StoredRule[]>;
}
