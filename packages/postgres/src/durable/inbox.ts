/** The inbox of a session. Each function needs the row lock of the session. */
import type { QueueKind, SessionMessage } from "@bowline/core/session";
import { fromColumn, toColumn, toKey } from "../rows/column-text.ts";
import { toJson } from "../rows/encode-entry.ts";
import type { Row, Run } from "../sql/database.ts";
import type { DrainName, InboxMessage, MessagePlace } from "./contract.ts";

/** The session whose inbox it is. */
export interface Inbox {
  readonly run: Run;
  readonly schema: string;
  /** The session's number. */
  readonly session: number;
}

/** Adds a message. Changes nothing if its id is known. Returns where the message is. */
export async function push(
  inbox: Inbox,
  { id, queue, message, at }: InboxMessage,
): Promise<MessagePlace> {
  // The id itself is in the message's JSON, since the column of a long one is a digest.
  const json = toJson({ id, message });
  await inbox.run(
    `insert into ${inbox.schema}.inbox (session, message_id, queue, message, at)
    values ($1, $2, $3, $4, $5) on conflict (session, message_id) do nothing`,
    [inbox.session, toKey(id), queue, json, at],
  );
  return (await find(inbox, id)) ?? { state: "pending" };
}

/** Takes all waiting messages for a drain. */
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
      `update ${schema}.inbox set run_id = $2, drain = $3 where session = $1 and run_id is null`,
      key,
    );
  const rows = await run(
    `select queue, message, at from ${schema}.inbox
    where session = $1 and run_id = $2 and drain = $3 order by number`,
    key,
  );
  return rows.map(toMessage);
}

/** Returns the number of waiting messages. */
export async function pending({ run, schema, session }: Inbox): Promise<number> {
  const [row] = await run(
    `select count(*) as waiting from ${schema}.inbox where session = $1 and run_id is null`,
    [session],
  );
  return Number(row?.waiting);
}

/** Gives a message to a run, unless another has it. Takes it from its queue. */
export async function claim(
  { run, schema, session }: Inbox,
  {
    messageId,
    runId,
    at,
  }: { readonly messageId: string; readonly runId: string; readonly at: number },
): Promise<string> {
  const [row] = await run(
    `insert into ${schema}.inbox as mine (session, message_id, run_id, at) values ($1, $2, $3, $4)
    on conflict (session, message_id) do update set run_id = coalesce(mine.run_id, $3)
    returning run_id`,
    [session, toKey(messageId), toColumn(runId), at],
  );
  return fromColumn(String(row?.run_id));
}

/** Returns where a message is. */
export async function find(
  { run, schema, session }: Inbox,
  messageId: string,
): Promise<MessagePlace | undefined> {
  const [row] = await run(
    `select run_id from ${schema}.inbox where session = $1 and message_id = $2`,
    [session, toKey(messageId)],
  );
  if (row === undefined) return undefined;
  return typeof row.run_id === "string"
    ? { state: "taken", runId: fromColumn(row.run_id) }
    : { state: "pending" };
}

function toMessage({ queue, message, at }: Row): InboxMessage {
  const stored = JSON.parse(String(message)) as { id: string; message: SessionMessage };
  return { ...stored, queue: queue as QueueKind, at: Number(at) };
}
