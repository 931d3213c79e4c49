/** Finds runs and approvals over all sessions. */
import { sourceOf, type StoreContext } from "../context.ts";
import { fromColumn, toColumn, toKey } from "../rows/column-text.ts";
import { restore } from "../rows/read-entries.ts";
import { textOrNull, type Row } from "../sql/database.ts";
import { positionOf, readPosition } from "./position.ts";
import type {
  ApprovalFilter,
  FoundApproval,
  FoundRun,
  OpenApproval,
  OpenRun,
  ListedRun,
  RunFilter,
} from "./run-types.ts";

/** A filter without it takes the first results. */
const DEFAULT_LIMIT = 1000;

export async function openRuns(
  { database, schema }: StoreContext,
  { sessionId, owner, limit = DEFAULT_LIMIT }: RunFilter,
): Promise<OpenRun[]> {
  const rows = await database.query(
    "Listing open runs",
    `select sessions.id, run_id, state, at
    from ${schema}.runs join ${schema}.sessions on sessions.number = runs.session
    where state <> 'ended' and ($1::text is null or sessions.id = $1)
      and ($2::text is null or owner = $2)
    order by at, runs.session, key limit $3`,
    [columnOf(sessionId), owner === undefined ? null : toKey(owner), limit],
  );
  return rows.map((row) => ({
    sessionId: sessionIn(row),
    runId: fromColumn(String(row.run_id)),
    state: row.state as OpenRun["state"],
    at: Number(row.at),
  }));
}

export interface RunningPage {
  /** Milliseconds since the epoch. */
  readonly before: number;
  readonly limit: number;
  /** The position of the last run of the page before. */
  readonly after: string | undefined;
}

/** Returns runs that began before a moment and go on, oldest first. */
export async function runningSince(
  { database, schema }: StoreContext,
  { before, limit, after }: RunningPage,
): Promise<ListedRun[]> {
  const [begun, session] = readPosition(after, 2);
  const rows = await database.query(
    "Listing running runs",
    `select sessions.id, sessions.number, run_id, at
    from ${schema}.runs join ${schema}.sessions on sessions.number = runs.session
    where state = 'running' and at < $1
      and (at, runs.session) > ($3::float8, $4::bigint)
    order by at, runs.session limit $2`,
    [before, limit, begun, session],
  );
  return rows.map((row) => ({
    sessionId: sessionIn(row),
    runId: fromColumn(String(row.run_id)),
    state: "running",
    at: Number(row.at),
    position: positionOf(row.at, row.number),
  }));
}

export async function countRuns({
  database,
  schema,
}: StoreContext): Promise<{ readonly queued: number; readonly running: number }> {
  const rows = await database.query(
    "Counting open runs",
    `select state, count(*) as runs from ${schema}.runs where state <> 'ended' group by state`,
  );
  const count = (state: string): number =>
    Number(rows.find((row) => row.state === state)?.runs ?? 0);
  return { queued: count("queued"), running: count("running") };
}

export async function findRun(
  { database, schema }: StoreContext,
  runId: string,
): Promise<FoundRun[]> {
  const rows = await database.query(
    "Finding a run",
    `select sessions.id, state, reason
    from ${schema}.runs join ${schema}.sessions on sessions.number = runs.session
    where key = $1 order by runs.session limit 2`,
    [toKey(runId)],
  );
  return rows.map((row) => {
    const reason = textOrNull(row.reason);
    return {
      sessionId: sessionIn(row),
      state: row.state as FoundRun["state"],
      ...(reason !== null && { reason: fromColumn(reason) as NonNullable<FoundRun["reason"]> }),
    };
  });
}

/** Leaves out a request whose entry is damaged, as readers do. */
export async function openApprovals(
  context: StoreContext,
  { sessionId, beginning, limit = DEFAULT_LIMIT }: ApprovalFilter,
): Promise<OpenApproval[]> {
  const { database, schema } = context;
  const rows = await database.query(
    "Listing open approvals",
    `select sessions.id, sessions.number, runs.run_id, approvals.seq, expires_at, body, parts
    from ${schema}.approvals join ${schema}.sessions on sessions.number = approvals.session
      join ${schema}.runs on runs.session = approvals.session and runs.key = approvals.run
      join ${schema}.entries on entries.session = approvals.session and entries.seq = approvals.seq
    where is_open and answer is null and ($1::text is null or sessions.id = $1)
      and ($2::text is null or starts_with(sessions.id, $2))
    order by approvals.session, approvals.seq limit $3`,
    [columnOf(sessionId), columnOf(beginning), limit],
  );
  const open: OpenApproval[] = [];
  for (const row of rows) {
    const [id, number] = [sessionIn(row), Number(row.number)];
    const { entry } = await restore(sourceOf(context, { id, number }), row, false, undefined);
    if (entry === undefined) continue;
    const request = entry as OpenApproval["request"];
    open.push({
      sessionId: id,
      approvalId: request.approvalId,
      runId: fromColumn(String(row.run_id)),
      seq: Number(row.seq),
      ...(typeof row.expires_at === "number" && { expiresAt: row.expires_at }),
      request,
    });
  }
  return open;
}

export async function findApproval(
  { database, schema }: StoreContext,
  approvalId: string,
): Promise<FoundApproval[]> {
  const rows = await database.query(
    "Finding an approval",
    `select sessions.id, is_open
    from ${schema}.approvals join ${schema}.sessions on sessions.number = approvals.session
    where key = $1 order by approvals.session limit 2`,
    [toKey(approvalId)],
  );
  return rows.map((row) => ({ sessionId: sessionIn(row), isOpen: row.is_open === true }));
}

function sessionIn({ id }: Row): string {
  return fromColumn(String(id));
}

function columnOf(text: string | undefined): string | null {
  return text === undefined ? null : toColumn(text);
}
