/**
 * Answers to approvals. The first one that is stored counts, and its run finds it, whatever has become
 * of the process that accepted it. Functions with an inbox need the row lock of the session.
 */
import { BowlineError } from "@bowline/core";
import { toJson } from "@bowline/core/session";
import { sourceOf, type StoreContext } from "../context.ts";
import { fromColumn, toKey } from "../rows/column-text.ts";
import { restore } from "../rows/read-entries.ts";
import { textOrNull } from "../sql/database.ts";
import { positionOf, readPosition } from "./position.ts";
import type {
  AnsweredApproval,
  AnswerPlace,
  ApprovalAnswer,
  OpenApproval,
  StoredAnswer,
} from "./run-types.ts";
import type { Inbox } from "./session-inbox.ts";

/** Stores an answer, unless there is one or it is too late. Returns the answer that counts. */
export async function storeAnswer(
  inbox: Inbox,
  approvalId: string,
  answer: ApprovalAnswer,
  at: number,
): Promise<AnswerPlace> {
  const { run, schema, session } = inbox;
  const [row] = await run(
    `select is_open, expires_at, answer from ${schema}.approvals where session = $1 and key = $2`,
    [session, toKey(approvalId)],
  );
  if (row === undefined) return { state: "unknown" };
  const before = toAnswer(row.answer);
  if (before !== undefined) return { state: "stored", answer: before };
  if (row.is_open !== true) return { state: "closed" };
  if (typeof row.expires_at === "number" && at > row.expires_at) return { state: "late" };
  const stored: StoredAnswer = { ...answer, at };
  await run(
    `update ${schema}.approvals set answer = $3, answered_at = $4 where session = $1 and key = $2`,
    [session, toKey(approvalId), toJson(stored), at],
  );
  return { state: "stored", answer: stored };
}

/** Returns the answer to an approval, if there is one. With `isClosing`, it then takes none any more. */
export async function findAnswer(
  { run, schema, session }: Inbox,
  approvalId: string,
  isClosing: boolean,
): Promise<StoredAnswer | undefined> {
  const key = [session, toKey(approvalId)];
  const [row] = await run(
    `select answer from ${schema}.approvals where session = $1 and key = $2`,
    key,
  );
  const answer = toAnswer(row?.answer);
  if (answer === undefined && isClosing)
    await run(
      `update ${schema}.approvals set is_open = false where session = $1 and key = $2`,
      key,
    );
  return answer;
}

export interface AnsweredPage {
  /** Milliseconds since the epoch. */
  readonly before: number;
  readonly limit: number;
  /** The position of the last answer of the page before. */
  readonly after: string | undefined;
}

/** Returns answers that were given before a moment and that their runs do not have, oldest first. */
export async function answeredSince(
  context: StoreContext,
  { before, limit, after }: AnsweredPage,
): Promise<AnsweredApproval[]> {
  const { database, schema } = context;
  const [at, session, seq] = readPosition(after, 3);
  const rows = await database.query(
    "Listing answers",
    `select sessions.id, sessions.number, approvals.seq, answer, answered_at, body, parts
    from ${schema}.approvals join ${schema}.sessions on sessions.number = approvals.session
      join ${schema}.entries on entries.session = approvals.session and entries.seq = approvals.seq
    where is_open and answer is not null and answered_at < $1
      and (answered_at, approvals.session, approvals.seq) > ($3::float8, $4::bigint, $5::int)
    order by answered_at, approvals.session, approvals.seq limit $2`,
    [before, limit, at, session, seq],
  );
  const found: AnsweredApproval[] = [];
  for (const row of rows) {
    const [id, number] = [fromColumn(String(row.id)), Number(row.number)];
    const { entry } = await restore(sourceOf(context, { id, number }), row, false, undefined);
    const answer = toAnswer(row.answer);
    if (entry === undefined || answer === undefined) continue;
    const { approvalId } = entry as OpenApproval["request"];
    const position = positionOf(row.answered_at, row.number, row.seq);
    found.push({ sessionId: id, approvalId, answer, position });
  }
  return found;
}

function toAnswer(column: unknown): StoredAnswer | undefined {
  const text = textOrNull(column);
  if (text === null) return undefined;
  try {
    return JSON.parse(text) as StoredAnswer;
  } catch (cause) {
    throw new BowlineError("storage_failed", "An answer is damaged in the database.", { cause });
  }
}
