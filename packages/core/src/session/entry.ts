/**
 * What a session's append-only log holds. A session is the fold of its entries; nothing is changed
 * or removed.
 */
import type { ErrorInfo } from "../errors.ts";
import { defined } from "../json-value.ts";
import type { Message } from "../llm/message.ts";
import type { Usage } from "../llm/usage.ts";

/** What is known of a session before its first entry, and never changes. */
export interface SessionHeader {
  /** Any well-formed text of 1 to 512 characters; it need not be fit for a file name. */
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** Where this session was forked from: its first entries are copies of the path to that entry. */
  readonly origin?: { readonly sessionId: string; readonly entryId: string };
  /** The application's own, JSON-safe: a working folder, an agent's name. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export interface EntryBase {
  /**
   * Counts from 0 in the order of appending; a number is passed over only where a record was
   * damaged.
   */
  readonly seq: number;
  readonly id: string;
  /**
   * The entry this one follows; `null` for a first. Entries form a tree, and a rewind is a new
   * child of an old entry.
   */
  readonly parentId: string | null;
  /**
   * Milliseconds since the epoch, as the clock said: order is `seq`, so a clock that is set back
   * does no harm.
   */
  readonly timestamp: number;
}

/** How a run ended, as the loop's `agent_end` says it; `interrupted` is found on reopening. */
export type RunEnd = "done" | "length" | "error" | "aborted" | "budget" | "interrupted";

/**
 * The model that is asked. `provider` and `model` are empty where an agent was chosen whose model
 * is not known before its first run.
 */
export interface SessionModel {
  readonly provider: string;
  readonly model: string;
  readonly thinkingLevel?: string;
  /** Who answers, where an application has several agents. */
  readonly agent?: string;
}

/** Of messages that wait: for the next model call, or for when the run would stop. */
export type QueueKind = "steering" | "followUp";

export type EntryBody =
  /** `model` here lets a reader know it without going back beyond the last run. */
  | {
      readonly type: "run_start";
      readonly runId: string;
      readonly parentRunId?: string;
      readonly model?: SessionModel;
      /** It has no message of its own to begin with: the model was asked about what was there. */
      readonly continues?: true;
      /** The `queued` entries from before that still wait; absent when none does. */
      readonly queuedIds?: readonly string[];
    }
  /** Another process found the run open: numbers of the run's events go on beyond this entry. */
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
      /** The `queued` entry that it waited as. */
      readonly queuedId?: string;
    }
  /** It waits for a run to take it: it is in the transcript when a `message` names this entry. */
  | { readonly type: "queued"; readonly queue: QueueKind; readonly message: SessionMessage }
  /** What waits in this queue is not wanted any more. */
  | { readonly type: "queue_clear"; readonly queue: QueueKind }
  | ({ readonly type: "model_change" } & SessionModel)
  /**
   * From here on a model is shown `summary`, as it is and unless it is empty, for what comes before
   * `firstKeptId` (`null`: before this entry).
   */
  | {
      readonly type: "compaction";
      readonly summary: string;
      readonly firstKeptId: string | null;
      /**
       * Messages from before `firstKeptId` that are shown all the same, before the summary: the
       * last of the user's.
       */
      readonly earlierIds?: readonly string[];
      /** Tool results from before this entry are shown cut down to so many tokens. */
      readonly maxResultTokens?: number;
      readonly tokensBefore?: number;
    }
  /** An empty label takes the entry's label away. */
  | { readonly type: "label"; readonly targetId: string; readonly label: string }
  | { readonly type: "title"; readonly title: string }
  /**
   * Written before a tool starts: after a crash, a call with an intent and no result is in doubt.
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
       * Its intent's. Call ids do not tell calls apart: servers use them again from turn to turn.
       */
      // Q041
      readonly idempotencyKey: string;
      /** All that the step gave, as the loop gets it again. */
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
  /** Of model calls that are in no message, such as a compaction's. */
  | { readonly type: "usage"; readonly runId: string; readonly usage: Usage };

/** A message of the application's own (`CustomAgentMessages`), kept as it is. */
interface CustomMessage {
  readonly role: string;
}

export type SessionMessage = Message | CustomMessage;

type WithBase<T> = T extends unknown ? T & EntryBase : never;

export type Entry = WithBase<EntryBody>;

/**
 * An entry as it is read: a newer version's types are kept as they are. {@link isKnownEntry} tells
 * which it is.
 */
export type AnyEntry = EntryBase & { readonly type: string };

const knownTypes: Readonly<Record<Entry["type"], true>> = {
  run_start: true,
  run_end: true,
  reopen: true,
  message: true,
  queued: true,
  queue_clear: true,
  model_change: true,
  compaction: true,
  label: true,
  title: true,
  tool_intent: true,
  tool_result: true,
  approval_request: true,
  approval_answer: true,
  abort: true,
  usage: true,
};

export function isKnownEntry(entry: AnyEntry): entry is Entry {
  return Object.hasOwn(knownTypes, entry.type);
}

/** The model that an entry names: of a run that began, or of a choice. */
export function modelIn(entry: Entry): SessionModel | undefined {
  if (entry.type === "run_start") return entry.model;
  if (entry.type !== "model_change") return undefined;
  const { provider, model, thinkingLevel, agent } = entry;
  return { provider, model, ...defined({ thinkingLevel, agent }) };
}
