/**
 * Sessions for durable engines: epochs, appends that are idempotent by a key, and an inbox. Each call
 * is one transaction under the row lock of the session, and holds nothing afterwards.
 */
import type {
  AnyEntry,
  EntryBody,
  QueueKind,
  SessionHeader,
  SessionMessage,
} from "@bowline/core/session";

/** An entry to append. Its id is the key. */
export interface DurableItem {
  /** Unique in the session, the same in every attempt: 1 to 512 characters. */
  readonly key: string;
  readonly body: EntryBody;
  /** Milliseconds since the epoch. Default: now. */
  readonly timestamp?: number | undefined;
  /** Id of the entry before. `null`: none. Default: the last entry of the session. */
  readonly parentId?: string | null | undefined;
}

/** A message that waits for a run. */
export interface QueuedInput {
  /** The client's id of the message: 1 to 512 characters. */
  readonly id: string;
  readonly queue: QueueKind;
  readonly message: SessionMessage;
}

export interface InboxMessage extends QueuedInput {
  /** When it was pushed first, in milliseconds since the epoch. */
  readonly at: number;
}

/** Names a drain for ever. */
export interface DrainName {
  readonly runId: string;
  /** Unique in the run, the same in every attempt, such as the number of the turn. */
  readonly name: string;
}

/** Where a client's message is. */
export type MessagePlace =
  /** In its queue. */
  | { readonly state: "pending" }
  /** In this run, which it began or which took it from its queue. */
  | { readonly state: "taken"; readonly runId: string };

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
   */
  append(
    sessionId: string,
    epoch: number | undefined,
    items: readonly DurableItem[],
  ): Promise<readonly AnyEntry[]>;
  /**
   * Puts a message into the inbox, once for its id. Returns where the message is: a run may have it
   * already.
   */
  push(sessionId: string, input: QueuedInput): Promise<MessagePlace>;
  /**
   * Takes all waiting messages of both queues, in order. The same drain, called again, returns the
   * same messages, also if there were none.
   */
  drain(sessionId: string, epoch: number, by: DrainName): Promise<readonly InboxMessage[]>;
  /** Returns the number of waiting messages. */
  pending(sessionId: string): Promise<number>;
  /**
   * Gives a client's message to a run, once and for ever. Returns the run that has it: this one, or
   * an earlier one, whose message must not run again.
   */
  claimRun(sessionId: string, messageId: string, runId: string): Promise<string>;
  /** Returns where a client's message is. Undefined for an unknown one. */
  findMessage(sessionId: string, messageId: string): Promise<MessagePlace | undefined>;
}
