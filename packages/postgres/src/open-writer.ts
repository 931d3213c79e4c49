/** Opens and creates sessions for writing. */
import {
  checkSequence,
  sessionExists,
  sessionNotFound,
  type AnyEntry,
  type SessionHeader,
  type SessionWriter,
} from "@bowline/core/session";
import { holderColumn } from "./connection/process-holder.ts";
import type { SessionLocks } from "./connection/session-locks.ts";
import {
  naming,
  sourceOf,
  takeEpoch,
  toSessionRow,
  type SessionRow,
  type StoreContext,
} from "./context.ts";
import { createSession } from "./create-session.ts";
import { readEntries } from "./rows/read-entries.ts";
import { PostgresWriter } from "./writer.ts";

export interface OpenWriterOptions {
  /**
   * Takes the session over from its writer, which is refused from then on, and takes no lock. Only
   * for a caller that knows that the other one is gone. Default false.
   */
  readonly takeOver?: boolean | undefined;
}

interface Named {
  readonly id: string;
  readonly number: number;
}

export async function openWriter(
  context: StoreContext,
  locks: SessionLocks,
  session: Named,
  { takeOver = false }: OpenWriterOptions = {},
): Promise<SessionWriter> {
  if (takeOver) return write(context, session, await nextEpoch(context, session, null));
  return holding(locks, session, async () => {
    const holder = holderColumn(context.clock.now());
    return write(context, session, await nextEpoch(context, session, holder), locks);
  });
}

export async function createWriter(
  context: StoreContext,
  locks: SessionLocks,
  header: SessionHeader,
  entries: readonly AnyEntry[],
): Promise<SessionWriter> {
  checkSequence(entries, 0);
  const { database, schema } = context;
  const { id } = header;
  const doing = naming("Creating", id);
  // The number comes first, so that the lock is taken before others can see the session.
  const [row] = await database.query(
    doing,
    `select nextval('${schema}.session_numbers') as number`,
  );
  const session = { id, number: Number(row?.number) };
  return holding(locks, session, async () => {
    const holder = holderColumn(context.clock.now());
    const isNew = await createSession(context, { ...session, header, entries, holder });
    if (!isNew) throw sessionExists(id);
    return write(context, session, await nextEpoch(context, session, holder), locks);
  });
}

/** Runs `work` with the session's lock, which is released if it fails. */
async function holding<T>(
  locks: SessionLocks,
  { id, number }: Named,
  work: () => Promise<T>,
): Promise<T> {
  await locks.take(id, number);
  try {
    return await work();
  } catch (error) {
    await locks.release(number);
    throw error;
  }
}

async function nextEpoch(
  { database, schema }: StoreContext,
  { id, number }: Named,
  holder: string | null,
): Promise<SessionRow> {
  const rows = await database.query(naming("Opening", id), takeEpoch(schema), [number, holder]);
  const session = toSessionRow(rows[0]);
  if (session === undefined) throw sessionNotFound(id);
  return session;
}

/** Returns the writer. `locks` has its lock, or is absent for one that took the session over. */
async function write(
  context: StoreContext,
  { id, number }: Named,
  { epoch, header, nextSeq }: SessionRow,
  locks?: SessionLocks,
): Promise<SessionWriter> {
  const source = sourceOf(context, { id, number });
  let last: AnyEntry | undefined;
  const options = { from: Math.max(0, nextSeq - 1), files: false };
  for await (const batch of readEntries(source, nextSeq, options)) [last] = batch;
  const writer = new PostgresWriter({
    context,
    target: { id, number, epoch },
    header: JSON.parse(header) as SessionHeader,
    nextSeq,
    last,
    ...(locks && { release: () => locks.release(number) }),
  });
  locks?.hold(number, epoch, (error) => writer.fence(error));
  return writer;
}
