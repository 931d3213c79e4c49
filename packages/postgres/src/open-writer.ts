/** Opens and creates sessions for writing. */
import {
  toJson,
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
import { readEntries, restore } from "./rows/read-entries.ts";
import type { Row } from "./sql/database.ts";
import { PostgresWriter, type WriterOptions } from "./writer.ts";

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
  if (takeOver) return toWriter(context, session, await nextEpoch(context, session, null));
  return holding(locks, session, async () => {
    const holder = holderColumn(context.clock.now());
    return toWriter(context, session, await nextEpoch(context, session, holder), locks);
  });
}

export async function createWriter(
  context: StoreContext,
  locks: SessionLocks,
  header: SessionHeader,
  entries: readonly AnyEntry[],
): Promise<SessionWriter> {
  checkSequence(entries, 0);
  const copy = JSON.parse(toJson(header)) as SessionHeader;
  const { database, schema } = context;
  const { id } = header;
  const doing = naming("Creating", id);
  // The number comes first, so that the lock is taken before others can see the session.
  const [row] = await database.query(
    doing,
    `select nextval('${schema}.session_numbers') as number`,
  );
  const number = Number(row?.number);
  const session = { id, number };
  return holding(locks, session, async () => {
    const holder = holderColumn(context.clock.now());
    const isNew = await createSession(context, { number, header, entries, holder });
    if (!isNew) throw sessionExists(id);
    // Below all epochs that are taken.
    const opened = { epoch: 0, header: copy, nextSeq: entries.length, last: entries.at(-1) };
    return toWriter(context, session, opened, locks);
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

/** What a writer begins with. */
type Opened = Pick<WriterOptions, "header" | "nextSeq" | "last"> & { readonly epoch: number };

async function nextEpoch(
  context: StoreContext,
  { id, number }: Named,
  holder: string | null,
): Promise<Opened> {
  const { database, schema } = context;
  const rows = await database.query(naming("Opening", id), takeEpoch(schema), [number, holder]);
  const session = toSessionRow(rows[0]);
  if (session === undefined) throw sessionNotFound(id);
  const { epoch, nextSeq } = session;
  const last = nextSeq === 0 ? undefined : await lastEntry(context, session, { id, row: rows[0] });
  return { epoch, header: JSON.parse(session.header) as SessionHeader, nextSeq, last };
}

/** Returns the last entry, whose large files are references. */
async function lastEntry(
  context: StoreContext,
  { number, nextSeq }: SessionRow,
  { id, row }: { readonly id: string; readonly row: Row | undefined },
): Promise<AnyEntry | undefined> {
  const source = sourceOf(context, { id, number });
  if (typeof row?.body === "string") {
    const { entry } = await restore(source, { ...row, seq: nextSeq - 1 }, false, undefined);
    if (entry !== undefined) return entry;
  }
  let last: AnyEntry | undefined;
  const options = { reverse: true, from: nextSeq - 1, files: false };
  for await (const batch of readEntries(source, nextSeq, options)) {
    [last] = batch;
    break;
  }
  return last;
}

/** Returns the writer. `locks` has its lock, or is absent for one that took the session over. */
function toWriter(
  context: StoreContext,
  { id, number }: Named,
  { epoch, ...opened }: Opened,
  locks?: SessionLocks,
): SessionWriter {
  const writer = new PostgresWriter({
    context,
    target: { id, number, epoch },
    ...opened,
    ...(locks && { release: () => locks.release(number) }),
  });
  locks?.hold(number, epoch, (error) => writer.fence(error));
  return writer;
}
