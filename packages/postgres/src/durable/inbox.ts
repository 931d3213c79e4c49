/** The inbox of a session. Each function needs the row lock of the session. */
import { toJson, type QueueKind, type SessionMessage } from "@bowline/core/session";
import { fromColumn, toColumn, toKey } from "../rows/column-text.ts";
import { textOrNull, type Row } from "../sql/database.ts";
import type { DrainName, InboxMessage, MessagePlace, QueuedInput } from "./contract.ts";
import { addQueuedRun, renameQueuedRun } from "./queued-runs.ts";
import type { StartInput, WaitingInput } from "./run-types.ts";
import type { Inbox } from "./session-inbox.ts";

/** The columns of {@link toWaiting}. */
export const waitingColumns = "queue, message, at, start_run, is_held, returns";

/** What a row has of a message besides its queue. */
interface StoredMessage {
  /** The id itself, since the column of a long one is a digest. */
  readonly id: string;
  readonly message: SessionMessage;
  readonly agent?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** Adds a message. Changes nothing if its id is known. Returns where the message is. */
export async function push(
  inbox: Inbox,
  input: QueuedInput | StartInput,
  at: number,
): Promise<MessagePlace> {
  const known = await find(inbox, input.id);
  if (known !== undefined) return known;
  const startRun = input.queue === "start" ? input.runId : undefined;
  if (input.queue === "start") {
    const place = await addQueuedRun(inbox, input, at);
    if (place !== undefined) return place;
  }
  const { id, queue, message, agent } = input;
  const metadata = "metadata" in input ? input.metadata : undefined;
  const json = toJson({ id, message, agent, metadata } satisfies Record<
    keyof StoredMessage,
    unknown
  >);
  await inbox.run(
    `insert into ${inbox.schema}.inbox (session, message_id, queue, message, at, start_run)
    values ($1, $2, $3, $4, $5, $6)`,
    [inbox.session, toKey(id), queue, json, at, startRun === undefined ? null : toColumn(startRun)],
  );
  return { state: "pending", ...(startRun !== undefined && { runId: startRun }) };
}

/** Takes all waiting messages for a drain, except those that begin runs. */
export async function drain(
  { run, schema, session }: Inbox,
  { runId, name }: DrainName,
): Promise<InboxMessage[]> {
  const key = [session, toColumn(runId), toColumn(name)];
  const first = await run(
    `insert into ${schema}.drains (session, run_id, name) values ($1, $2, $3)
    on conflict do nothing returning session`,
    key,
  );
  if (first.length > 0)
    await run(
      `update ${schema}.inbox set run_id = $2, drain = $3
      where session = $1 and run_id is null and queue <> 'start'`,
      key,
    );
  const rows = await run(
    `select queue, message, at, is_held from ${schema}.inbox
    where session = $1 and run_id = $2 and drain = $3 order by is_held desc, number`,
    key,
  );
  return rows.map((row) => {
    const { id, message } = storedIn(row);
    const taken = { id, queue: row.queue as QueueKind, message, at: Number(row.at) };
    return row.is_held === true ? { ...taken, isHeld: true } : taken;
  });
}

/** Puts messages back that a run has taken from their queue. They keep their places in it. */
export async function putBack(
  { run, schema, session }: Inbox,
  runId: string,
  ids: readonly string[],
): Promise<void> {
  await run(
    `update ${schema}.inbox
    set run_id = null, drain = null, is_held = false, returns = returns + 1
    where session = $1 and run_id = $2 and drain is not null and message_id = any($3::text[])`,
    [session, toColumn(runId), ids.map(toKey)],
  );
}

/** Holds the waiting messages that a drain would take. */
export async function hold({ run, schema, session }: Inbox): Promise<void> {
  await run(
    `update ${schema}.inbox set is_held = true
    where session = $1 and run_id is null and queue <> 'start'`,
    [session],
  );
}

/** Returns the number of waiting messages that begin a run if none is going on. */
export async function pending({ run, schema, session }: Inbox): Promise<number> {
  const [row] = await run(
    `select count(*) as waiting from ${schema}.inbox
    where session = $1 and run_id is null and queue <> 'start' and not is_held`,
    [session],
  );
  return Number(row?.waiting);
}

type Claimed = Exclude<MessagePlace, { readonly state: "pending" }>;

interface Claim {
  readonly messageId: string;
  readonly runId: string;
}

/** Gives a message to a run, unless another has it, also one that was never pushed. */
export async function claim(
  inbox: Inbox,
  { messageId, runId, at }: Claim & { readonly at: number },
): Promise<Claimed> {
  const { run, schema, session } = inbox;
  const [row] = await run(
    `insert into ${schema}.inbox as mine (session, message_id, run_id, at) values ($1, $2, $3, $4)
    on conflict (session, message_id) do update set run_id = coalesce(mine.run_id, $3)
    returning run_id, is_cancelled, start_run`,
    [session, toKey(messageId), toColumn(runId), at],
  );
  return placeOf(inbox, row);
}

/** As {@link claim}, of a message that was pushed. Undefined for another one. */
export async function claimPushed(
  inbox: Inbox,
  { messageId, runId }: Claim,
): Promise<Claimed | undefined> {
  const { run, schema, session } = inbox;
  const [row] = await run(
    `update ${schema}.inbox set run_id = coalesce(run_id, $3)
    where session = $1 and message_id = $2 returning run_id, is_cancelled, start_run`,
    [session, toKey(messageId), toColumn(runId)],
  );
  return row && placeOf(inbox, row);
}

async function placeOf(inbox: Inbox, row: Row | undefined): Promise<Claimed> {
  const owner = fromColumn(String(row?.run_id));
  if (row?.is_cancelled === true) return { state: "cancelled", runId: owner };
  const startRun = textOrNull(row?.start_run);
  // A run that was begun without the id of the message's own.
  if (startRun !== null && fromColumn(startRun) !== owner)
    await renameQueuedRun(inbox, fromColumn(startRun), owner);
  return { state: "taken", runId: owner };
}

/** Returns where a message is. */
export async function find(
  { run, schema, session }: Inbox,
  messageId: string,
): Promise<MessagePlace | undefined> {
  const [row] = await run(
    `select run_id, is_cancelled, start_run from ${schema}.inbox
    where session = $1 and message_id = $2`,
    [session, toKey(messageId)],
  );
  if (row === undefined) return undefined;
  const [owner, startRun] = [textOrNull(row.run_id), textOrNull(row.start_run)];
  if (owner === null)
    return { state: "pending", ...(startRun !== null && { runId: fromColumn(startRun) }) };
  return { state: row.is_cancelled === true ? "cancelled" : "taken", runId: fromColumn(owner) };
}

/** Returns a waiting message. The row has the {@link waitingColumns}. */
export function toWaiting(row: Row): WaitingInput {
  const { id, message, agent, metadata } = storedIn(row);
  const startRun = textOrNull(row.start_run);
  return {
    id,
    queue: row.queue as WaitingInput["queue"],
    message,
    at: Number(row.at),
    ...(row.is_held === true && { isHeld: true }),
    ...(Number(row.returns) > 0 && { returns: Number(row.returns) }),
    ...(startRun !== null && { runId: fromColumn(startRun) }),
    ...(agent !== undefined && { agent }),
    ...(metadata !== undefined && { metadata }),
  };
}

function storedIn({ message }: Row): StoredMessage {
  return JSON.parse(String(message)) as StoredMessage;
}
