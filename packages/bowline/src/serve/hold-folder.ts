/** One server at a time in a data folder: two would each take up what the other was asked to do. */
import { randomUUID } from "node:crypto";
import { BowlineError, isBowlineError, systemClock } from "@bowline/core";
import type { SessionWriter, Store } from "@bowline/core/session";
import { createJsonlStore } from "@bowline/core/session/node";

/**
 * A session is held by one process, and by none that has died: so is this one, which has no
 * entries.
 */
const ID = "server";

/**
 * Resolves to what lets the folder go. Rejects with `session_locked` while another process of this
 * host is there. Of a process on another host nobody here can know whether it still is: it does not
 * count.
 */
export async function holdFolder(folder: string): Promise<() => Promise<void>> {
  const store = createJsonlStore(folder);
  try {
    const writer = await openOrCreate(store);
    return () => writer.close();
  } catch (error) {
    if (!isBowlineError(error) || error.code !== "session_locked") throw error;
    const holder = await store.holder(ID);
    if (holder === undefined) return holdFolder(folder); // it has just gone
    const { pid, host } = holder;
    if (host !== (await hostOf(store))) return async () => {};
    const advice = "stop it, or let BOWLINE_HOME name another folder";
    throw new BowlineError(
      "session_locked",
      `A bowline serve, process ${pid}, uses the data folder already: ${advice}.`,
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

/** This host's name as holders have it. */
async function hostOf(store: Store): Promise<string | undefined> {
  const id = randomUUID();
  const writer = await store.create({ id, createdAt: systemClock.now() });
  const holder = await store.holder(id);
  await writer.close();
  await store.delete(id);
  return holder?.host;
}
