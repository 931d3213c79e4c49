/** Begins a run in one transaction: its message, what waits for it, and its first entries. */
import type { SessionRow, StoreContext } from "../context.ts";
import { toColumn, toKey } from "../rows/column-text.ts";
import { releaseText } from "../rows/unread.ts";
import { textOrNull, type Run } from "../sql/database.ts";
import { appendByKey } from "./append-by-key.ts";
import type { BegunRun, RunBeginning } from "./contract.ts";
import { claimPushed, drain } from "./inbox.ts";
import type { Inbox } from "./session-inbox.ts";

interface Beginning {
  readonly id: string;
  readonly session: SessionRow;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly about: RunBeginning;
}

/** The transaction must have the session's row lock. */
export async function beginRun(
  context: StoreContext,
  run: Run,
  { id, session, now, about }: Beginning,
): Promise<BegunRun> {
  const { runId, name, by, messageId, items } = about;
  const inbox = { run, schema: context.schema, session: session.number };
  if (messageId !== undefined) {
    // Before its message is claimed, which may wait for another run since.
    if (await isBegunByOther(inbox, runId, by)) return { state: "taken", runId };
    const place = await claimPushed(inbox, { messageId, runId });
    // It was deleted with its session, and the engine heard of it too late.
    if (place === undefined) return { state: "cancelled", runId };
    if (place.state === "cancelled" || place.runId !== runId) return place;
  }
  // What the run before has taken and not shown to the model goes in with this one.
  if (items.some(({ body }) => body.type === "run_end"))
    await run(releaseText(context.schema, "key <> $2"), [session.number, toKey(runId)]);
  const taken = await drain(inbox, { runId, name });
  if (messageId === undefined && taken.length === 0) return { state: "idle" };
  const entries = await appendByKey(context, run, { id, session, items, now });
  await run(
    `update ${context.schema}.runs set begun_by = $3 where session = $1 and key = $2 and begun_by is null`,
    [session.number, toKey(runId), toColumn(by)],
  );
  return { state: "begun", taken, entries };
}

/**
 * Returns whether an invocation before this one has begun the run, which may have ended since. Its
 * tools would run a second time. Of a run that began under earlier tables, only its end tells. A cancelled one has
 * not begun.
 */
async function isBegunByOther(
  { run, schema, session }: Inbox,
  runId: string,
  by: string,
): Promise<boolean> {
  const [row] = await run(
    `select state, begun_by from ${schema}.runs
    where session = $1 and key = $2 and state <> 'queued' and reason is distinct from 'cancelled'`,
    [session, toKey(runId)],
  );
  if (row === undefined) return false;
  const begunBy = textOrNull(row.begun_by);
  return begunBy === null ? row.state === "ended" : begunBy !== toColumn(by);
}
