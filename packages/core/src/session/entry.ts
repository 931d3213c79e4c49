/**
 * The entries of a session's append-only log. The state of a session follows from its entries,
 * which are never changed or removed.
 */
import type { ErrorInfo } from "../errors.ts";
import { defined } from "../json-value.ts";
import type { MessageOrigin } from "../llm/event.ts";
import type { Message } from "../llm/message.ts";
import type { Usage } from "../llm/usage.ts";

/** Facts about a session that never change. */
export interface SessionHeader {
  /** Any well-formed string of 1 to 512 characters. It need not be a valid file name. */
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /**
   * The session and entry that this session was forked from. Its first entries are copies of the
   * path to that entry.
   */
  readonly origin?: { readonly sessionId: string; readonly entryId: string };
  /** JSON-safe data of the application, such as a working folder or an agent's name. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export interface EntryBase {
  /**
   * Sequence number from 0, in order of appending. A number is missing only where a record was
   * damaged.
   */
  readonly seq: number;
  readonly id: string;
  /**
   * The id of the previous entry; `null` for a first one. Entries form a tree, and a rewind adds a
   * new child to an old entry.
   */
  readonly parentId: string | null;
  /**
   * Milliseconds since the epoch. The order of entries is by `seq`, so a clock that is set back
   * does no harm.
   */
  readonly timestamp: number;
}

/**
 * How a run ended, as in `agent_end`. `interrupted` is written when an unfinished run is found
 * later.
 */
export type RunEnd = "done" | "length" | "error" | "aborted" | "budget" | "interrupted";

/**
 * The model in use. `provider` and `model` are empty if an agent was chosen whose model is unknown
 * before its first run.
 */
export interface SessionModel {
  readonly provider: string;
  readonly model: string;
  readonly thinkingLevel?: string;
  /** The name of the agent, in an application with several agents. */
  readonly agent?: string;
}

/**
 * The queue of a message: `steering` for the next model call, `followUp` for when the run would
 * end.
 */
export type QueueKind = "steering" | "followUp";

export type EntryBody =
  /** Start of a run. It repeats the model, so that a reader need not read earlier entries. */
  | {
      readonly type: "run_start";
      readonly runId: string;
      readonly parentRunId?: string;
      readonly model?: SessionModel;
      /** Set for a run without a prompt, which continued from the existing messages. */
      readonly continues?: true;
      /** Ids of earlier `queued` entries that are still pending. Absent when there are none. */
      readonly queuedIds?: readonly string[];
      /** The end of the run's time budget, in milliseconds since the epoch. */
      readonly deadline?: number;
    }
  /** Another process resumes the run. The run's event numbers continue from this entry. */
  | { readonly type: "reopen"; readonly runId: string }
  | {
      readonly type: "run_end";
      readonly runId: string;
      readonly reason: RunEnd;
      readonly usage?: Usage;
      readonly error?: ErrorInfo;
    }
  | {
      readonly type: "message";
      readonly runId?: string;
      readonly message: SessionMessage;
      /** Id of the `queued` entry of this message. */
      readonly queuedId?: string;
      /**
       * Estimated tokens of an answer whose server reported none. Written if a budget limits tokens.
       */
      readonly guess?: number;
    }
  /**
   * Text of an answer that is streaming. The answer's `message` entry replaces it. If the process
   * ends before, the text becomes a cut answer.
   */
  | {
      readonly type: "streamed_text";
      readonly runId: string;
      /** Text to append to the parts of the answer. */
      readonly pieces: readonly { readonly contentIndex: number; readonly text: string }[];
      /**
       * Earlier text of these parts does not count, from this index on. 0 in the first entry of an
       * answer.
       */
      readonly retractedFrom?: number;
      /** The model that answers. Set together with `retractedFrom`. */
      readonly origin?: MessageOrigin;
    }
  /** A queued message. It is in the transcript once a `message` entry names this entry. */
  | {
      readonly type: "queued";
      readonly queue: QueueKind;
      readonly message: SessionMessage;
      /** The `queued` entry that this one goes in front of. Absent: it is the last. */
      readonly beforeId?: string;
    }
  /** A message was removed from its queue. `queuedId` is its `queued` entry. */
  | { readonly type: "queue_remove"; readonly queuedId: string }
  /** The messages in this queue were discarded. */
  | { readonly type: "queue_clear"; readonly queue: QueueKind }
  | ({ readonly type: "model_change" } & SessionModel)
  /**
   * From here on, a model gets `summary` instead of the messages before `firstKeptId` (`null`:
   * before this entry). An empty summary is not sent.
   */
  | {
      readonly type: "compaction";
      readonly summary: string;
      readonly firstKeptId: string | null;
      /**
       * Messages before `firstKeptId` that are still sent, before the summary: the last user
       * message.
       */
      readonly earlierIds?: readonly string[];
      /** Tool results before this entry are shortened to this many tokens when sent. */
      readonly maxResultTokens?: number;
      readonly tokensBefore?: number;
      readonly tokensAfter?: number;
    }
  /**
   * From here on, a model gets what it would get without the compaction `compactionId`: the messages
   * before it, as the compaction before that one left them, and all later ones.
   */
  | {
      readonly type: "compaction_undo";
      readonly compactionId: string;
      readonly tokensBefore?: number;
      readonly tokensAfter?: number;
    }
  /** Sets an entry's label. An empty label removes it. */
  | { readonly type: "label"; readonly targetId: string; readonly label: string }
  | { readonly type: "title"; readonly title: string }
  /**
   * Written before a tool starts. After a crash, the outcome of a call with an intent but no result
   * is unknown.
   */
  | {
      readonly type: "tool_intent";
      readonly runId: string;
      readonly toolCallId: string;
      readonly toolName: string;
      readonly args: unknown;
      readonly replay: "never" | "safe";
      readonly idempotencyKey: string;
    }
  | {
      readonly type: "tool_result";
      readonly runId: string;
      readonly toolCallId: string;
      /**
       * The key of the intent. Call ids do not identify a call, because servers reuse them in later
       * turns.
       */
      // Q041
      readonly idempotencyKey: string;
      /** The whole result of the step, which the loop gets again on resume. */
      readonly result: unknown;
      readonly isError: boolean;
    }
  | {
      readonly type: "approval_request";
      readonly approvalId: string;
      readonly toolCallId: string;
      readonly toolName: string;
      readonly args: unknown;
      readonly reason?: string;
      /** Milliseconds since the epoch. */
      readonly expiresAt?: number;
    }
  | {
      readonly type: "approval_answer";
      readonly approvalId: string;
      readonly decision: "allow" | "deny" | "expired";
      readonly by?: string;
      readonly reason?: string;
      readonly remember?: "session";
    }
  | { readonly type: "abort"; readonly runId: string; readonly reason?: string }
  /** Usage of model calls that no message carries, such as those of a compaction. */
  | { readonly type: "usage"; readonly runId: string; readonly usage: Usage };

/** A custom message of the application (`CustomAgentMessages`), stored as is. */
interface CustomMessage {
  readonly role: string;
}

export type SessionMessage = Message | CustomMessage;

type WithBase<T> = T extends unknown ? T & EntryBase : never;

export type Entry = WithBase<EntryBody>;

/**
 * An entry as read from a store. Entries of types from newer versions are kept as is; {@link
 * isKnownEntry} detects them.
 */
export type AnyEntry = EntryBase & { readonly type: string };

const knownTypes: Readonly<Record<Entry["type"], true>> = {
  run_start: true,
  run_end: true,
  reopen: true,
  message: true,
  streamed_text: true,
  queued: true,
  queue_remove: true,
  queue_clear: true,
  model_change: true,
  compaction: true,
  compaction_undo: true,
  label: true,
  title: true,
  tool_intent: true,
  tool_result: true,
  approval_request: true,
  approval_answer: true,
  abort: true,
  usage: true,
};

/** Returns whether this version knows the entry's type. */
export function isKnownEntry(entry: AnyEntry): entry is Entry {
  return Object.hasOwn(knownTypes, entry.type);
}

/** Returns the model that a `run_start` or `model_change` entry names, otherwise undefined. */
export function modelIn(entry: Entry): SessionModel | undefined {
  if (entry.type === "run_start") return entry.model;
  if (entry.type !== "model_change") return undefined;
  const { provider, model, thinkingLevel, agent } = entry;
  return { provider, model, ...defined({ thinkingLevel, agent }) };
}
