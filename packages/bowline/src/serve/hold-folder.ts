/** Locks a data folder for one server: two would both resume the same runs. */
import { randomUUID } from "node:crypto";
import { BowlineError, isBowlineError, systemClock } from "@bowline/core";
import type { SessionWriter, Store } from "@bowline/core/session";
import { createJsonlStore } from "@bowline/core/session/node";

/**
 * The lock is a session without entries, since a session is held by one process, and released when
 * it dies.
 */
const ID = "server";

/**
 * Resolves to a function that releases the folder. Rejects with `session_locked` while another
 * process of this host holds it. A holder on another host is ignored, because this host cannot tell
 * whether it is alive.
 */
export async function holdFolder(folder: string): Promise<() => Promise<void>> {
  const store = createJsonlStore(folder);
  try {
    const writer = await openOrCreate(store);
    return () => writer.close();
  } catch (error) {
    if (!isBowlineError(error) || error.code !== "session_locked") throw error;
    const holder = await store.holder(ID);
    if (holder === undefined) return holdFolder(folder); // just released
    const { pid, host } = holder;
    if (host !== (await hostOf(store))) return async () => {};
    const advice = "Stop it, or set BOWLINE_HOME to another folder";
    throw new BowlineError(
      "session_locked",
      `The data folder is already in use by bowline serve, process ${pid}. ${advice}.`,
    );
  }
}

async function openOrCreate(store: Store): Promise<SessionWriter> {
  try {
    return await store.open(ID);
  } catch (error) {
    if (!isBowlineError(error) || error.code !== "not_found") throw error;
    return store.create({ id: ID, createdAt: systemClock.now() });
  }
}

/** Returns the name of this host as it appears in holders. */
async function hostOf(store: Store): Promise<string | undefined> {
  const id = randomUUID();
  const writer = await store.create({ id, createdAt: systemClock.now() });
  const holder = await store.holder(id);
  await writer.close();
  await store.delete(id);
  return holder?.host;
}
