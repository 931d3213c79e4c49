/** Messages that no run has: lists of them, and their cancellation. */
import type { StoreContext } from "../context.ts";
import { fromColumn, toKey } from "../rows/column-text.ts";
import { textOrNull } from "../sql/database.ts";
import { toWaiting, waitingColumns } from "./inbox.ts";
import { positionOf, readPosition } from "./position.ts";
import { cancelStarts } from "./queued-runs.ts";
import type { CancelledInput, WaitingInput, WaitingMessage } from "./run-types.ts";
import type { Inbox } from "./session-inbox.ts";

const MOST_LISTED = 1000;

/** The order in which runs take messages. */
const inOrder = `order by array_position(array['steering', 'followUp', 'start'], queue), number`;

/** Returns the waiting messages. Needs the row lock of the session. */
export async function waiting(
  { run, schema, session }: Inbox,
  isTaken: boolean,
): Promise<WaitingInput[]> {
  const taken = isTaken ? await run(takenText(schema), [session]) : [];
  const rows = await run(
    `select ${waitingColumns} from ${schema}.inbox where session = $1 and run_id is null
    ${inOrder} limit ${MOST_LISTED}`,
    [session],
  );
  return [...taken, ...rows].slice(0, MOST_LISTED).map(toWaiting);
}

/** The message that began the run comes first, as in the transcript. */
const takenText = (schema: string): string => `
select ${waitingColumns} from ${schema}.inbox
where session = $1 and run_id is not null and not is_read and message is not null
  and run_id in (select run_id from ${schema}.runs where session = $1 and state = 'running')
order by is_held desc, array_position(array['start', 'steering', 'followUp'], queue), number
limit ${MOST_LISTED}`;

/** Cancels waiting messages. Needs the row lock of the session. */
export async function cancel(
  inbox: Inbox,
  ids: readonly string[] | undefined,
  at: number,
): Promise<CancelledInput[]> {
  const { run, schema, session } = inbox;
  const rows = await run(
    `select number, ${waitingColumns} from ${schema}.inbox
    where session = $1 and run_id is null and ($2::text[] is null or message_id = any($2))
    ${inOrder}`,
    [session, ids?.map(toKey) ?? null],
  );
  const starts = rows.flatMap(({ number, start_run: startRun }) =>
    typeof startRun === "string" ? [{ number, startRun }] : [],
  );
  const others = rows.filter((row) => textOrNull(row.start_run) === null);
  if (others.length > 0)
    await run(`delete from ${schema}.inbox where number = any($1::bigint[])`, [
      others.map(({ number }) => number),
    ]);
  await cancelStarts(inbox, starts, at);
  return rows.map(toWaiting).map(({ id, queue, runId }) => ({
    id,
    queue,
    ...(runId !== undefined && { runId }),
  }));
}

export interface WaitingPage {
  /** Milliseconds since the epoch. */
  readonly before: number;
  readonly limit: number;
  /** The position of the last message of the page before. */
  readonly after: string | undefined;
}

/** Returns waiting messages of all sessions, oldest first. */
export async function waitingSince(
  { database, schema }: StoreContext,
  { before, limit, after }: WaitingPage,
): Promise<WaitingMessage[]> {
  const [at, number] = readPosition(after, 2);
  const rows = await database.query(
    "Listing messages that wait",
    `select sessions.id, inbox.number, ${waitingColumns}
    from ${schema}.inbox join ${schema}.sessions on sessions.number = inbox.session
    where run_id is null and not is_held and at < $1 and (at, inbox.number) > ($3::float8, $4::bigint)
    order by at, inbox.number limit $2`,
    [before, limit, at, number],
  );
  return rows.map((row) => ({
    sessionId: fromColumn(String(row.id)),
    ...toWaiting(row),
    position: positionOf(row.at, row.number),
  }));
}
