/**
 * Runs and approvals as rows, so that they can be found without reading transcripts. Whoever writes
 * entries changes these rows in the same transaction.
 */
import { isKnownEntry, type AnyEntry } from "@bowline/core/session";
import type { Run } from "../sql/database.ts";
import { toColumn, toKey } from "./column-text.ts";
import { releaseText } from "./unread.ts";

/** What an entry changes. Times are in milliseconds since the epoch. */
export type RunChange =
  /** A run begins or goes on. A session has one running run, so any other one has ended. */
  | { readonly kind: "begin"; readonly runId: string; readonly at: number }
  | { readonly kind: "end"; readonly runId: string; readonly reason: string; readonly at: number }
  | {
      readonly kind: "ask";
      readonly approvalId: string;
      readonly seq: number;
      readonly expiresAt: number | null;
    }
  | { readonly kind: "answer"; readonly approvalId: string };

/**
 * Returns what entries change, in their order. Nested runs have no rows. A stored entry may lack what
 * its type promises, and then changes nothing.
 */
export function runChanges(entries: readonly AnyEntry[]): RunChange[] {
  return entries.flatMap((entry) => {
    const change = changeOf(entry);
    return change === undefined ? [] : [change];
  });
}

function changeOf(entry: AnyEntry): RunChange | undefined {
  if (!isKnownEntry(entry)) return undefined;
  const { timestamp: at, seq } = entry;
  switch (entry.type) {
    case "run_start":
      if (entry.parentRunId !== undefined) return undefined;
      return isText(entry.runId) ? { kind: "begin", runId: entry.runId, at } : undefined;
    case "reopen":
      return isText(entry.runId) ? { kind: "begin", runId: entry.runId, at } : undefined;
    case "run_end": {
      const { runId, reason } = entry;
      return isText(runId) && isText(reason) ? { kind: "end", runId, reason, at } : undefined;
    }
    case "approval_request": {
      const { approvalId, expiresAt = null } = entry;
      return isText(approvalId) ? { kind: "ask", approvalId, seq, expiresAt } : undefined;
    }
    case "approval_answer": {
      const { approvalId } = entry;
      return isText(approvalId) ? { kind: "answer", approvalId } : undefined;
    }
    case "message":
    case "streamed_text":
    case "queued":
    case "queue_remove":
    case "queue_clear":
    case "model_change":
    case "compaction":
    case "compaction_undo":
    case "label":
    case "title":
    case "tool_intent":
    case "tool_result":
    case "abort":
    case "usage":
      return undefined;
  }
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

/**
 * Applies changes in their order. The transaction must have the session's row lock. Messages that an
 * interrupted run has taken, and that no entry has, are put back. With `isFilling`, the tables are those
 * of version 2, in which the runs and approvals of earlier entries are filled.
 */
export async function applyRunChanges(
  run: Run,
  schema: string,
  session: number,
  changes: readonly RunChange[],
  { isFilling = false }: { readonly isFilling?: boolean } = {},
): Promise<void> {
  for (const change of changes) await run(...statementOf(schema, session, change, isFilling));
}

function statementOf(
  schema: string,
  session: number,
  change: RunChange,
  isFilling: boolean,
): [string, unknown[]] {
  switch (change.kind) {
    case "begin": {
      const { runId, at } = change;
      const released = isFilling ? "" : `released as (${releaseText(schema, "key <> $2")}\n), `;
      return [beginText(schema, released), [session, toKey(runId), toColumn(runId), at]];
    }
    case "end": {
      const { runId, reason, at } = change;
      const isInterrupted = !isFilling && reason === "interrupted";
      const released = isInterrupted ? `released as (${releaseText(schema, "key = $2")}\n), ` : "";
      return [endText(schema, released), [session, toKey(runId), toColumn(reason), at]];
    }
    case "ask": {
      const { approvalId, seq, expiresAt } = change;
      // Another question, under the same id: the answer was to the one before.
      const unanswered = isFilling ? "" : ", answer = null, answered_at = null";
      return [askText(schema, unanswered), [session, toKey(approvalId), seq, expiresAt]];
    }
    case "answer":
      return [
        `update ${schema}.approvals set is_open = false where session = $1 and key = $2`,
        [session, toKey(change.approvalId)],
      ];
  }
}

/** `released` is a part of the statement that puts messages back. */
const beginText = (schema: string, released: string): string => `
with ${released}others as (
  update ${schema}.runs set state = 'ended', reason = 'interrupted', at = $4::float8
  where session = $1::bigint and state = 'running' and key <> $2::text
), closed as (
  update ${schema}.approvals set is_open = false where session = $1 and is_open and run <> $2
)
insert into ${schema}.runs (session, key, run_id, state, at) values ($1, $2, $3, 'running', $4)
on conflict (session, key) do update set state = 'running', reason = null, at = excluded.at`;

/** The end of a nested run finds no row. */
const endText = (schema: string, released: string): string => `
with ${released}closed as (
  update ${schema}.approvals set is_open = false
  where session = $1::bigint and is_open and run = $2::text
)
update ${schema}.runs set state = 'ended', reason = $3, at = $4 where session = $1 and key = $2`;

/** Without a running run, nothing waits for the answer. */
const askText = (schema: string, unanswered: string): string => `
insert into ${schema}.approvals (session, key, run, seq, expires_at, is_open)
select $1::bigint, $2::text, key, $3::int, $4::float8, true
from ${schema}.runs where session = $1 and state = 'running'
on conflict (session, key) do update set
  run = excluded.run, seq = excluded.seq, expires_at = excluded.expires_at, is_open = true
  ${unanswered}`;
