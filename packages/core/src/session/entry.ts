/** What a session's append-only log holds. A session is the fold of its entries; nothing is changed or removed. */
import type { ErrorInfo } from "../errors.ts";
import type { Message } from "../llm/message.ts";
import type { Usage } from "../llm/usage.ts";

export interface EntryBase {
  /** Counts from 0 in the order of appending. */
  readonly seq: number;
  readonly id: string;
  /** The entry this one follows; `null` for the first. Entries form a tree, and a rewind is a new child of an old entry. */
  readonly parentId: string | null;
  /** Milliseconds since the epoch. */
  readonly timestamp: number;
}

/** How a run ended, as the loop's `agent_end` says it; `interrupted` is found on reopening. */
export type RunEnd = "done" | "length" | "error" | "aborted" | "budget" | "interrupted";

export type EntryBody =
  | { readonly type: "run_start"; readonly runId: string; readonly parentRunId?: string }
  | {
      readonly type: "run_end";
      readonly runId: string;
      readonly reason: RunEnd;
      readonly usage?: Usage;
      readonly error?: ErrorInfo;
    }
  | { readonly type: "message"; readonly runId?: string; readonly message: Message | CustomMessage }
  | {
      readonly type: "model_change";
      readonly provider: string;
      readonly model: string;
      readonly thinkingLevel?: string;
    }
  /** From here on a model is shown `summary` in place of the entries before `firstKeptId`, which stay in the log. */
  | {
      readonly type: "compaction";
      readonly summary: string;
      readonly firstKeptId: string;
      readonly tokensBefore?: number;
    }
  | { readonly type: "label"; readonly targetId: string; readonly label: string }
  /** Written before a tool starts: after a crash, a call with an intent and no result is in doubt. */
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
      readonly result: unknown;
      readonly isError: boolean;
    }
  | {
      readonly type: "approval_request";
      readonly approvalId: string;
      readonly toolCallId: string;
      readonly toolName: string;
      readonly args: unknown;
      readonly expiresAt: number;
    }
  | {
      readonly type: "approval_answer";
      readonly approvalId: string;
      readonly decision: "allow" | "deny" | "expired";
      readonly by?: string;
      readonly reason?: string;
    }
  | { readonly type: "abort"; readonly runId: string; readonly reason?: string }
  | { readonly type: "usage"; readonly runId: string; readonly usage: Usage };

/** A message of the application's own (`CustomAgentMessages`), kept as it is. */
interface CustomMessage {
  readonly role: string;
}

type WithBase<T> = T extends unknown ? T & EntryBase : never;

export type Entry = WithBase<EntryBody>;
