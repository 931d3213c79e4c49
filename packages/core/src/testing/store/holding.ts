/** Conformance cases for the write lock. */
import {
  check,
  entries,
  entry,
  fails,
  headerOf,
  readAll,
  same,
  using,
  type StoreCase,
} from "./checks.ts";

export const holding: Readonly<Record<string, StoreCase>> = {
  async "allows one writer and names it in the second writer's error"(store, reopen) {
    const other = await reopen();
    const writer = await store.create(headerOf("s"));
    for (const second of [store, other]) {
      const { message } = await fails("session_locked", second.open("s"));
      check(message.includes("process"), `the holder is not named: ${message}`);
      await fails("session_locked", second.delete("s"));
    }
    await writer.append(entries(1));
    same(await readAll(other, "s"), entries(1));
    await writer.close();
    await writer.close();
    await fails("invalid_state", writer.append([entry(1)]));
    await using(await other.open("s"), async (next) => {
      same([next.header, next.last, next.nextSeq, next.damage], [headerOf("s"), entry(0), 1, []]);
      await fails("session_locked", store.open("s"));
      await next.append([entry(1)]);
    });
    same(await readAll(store, "s"), entries(2));
  },

  async "returns the holder of a session, and undefined when there is none"(store, reopen) {
    const other = await reopen();
    const holders = async (): Promise<unknown[]> =>
      Promise.all([store, other].map(async (one) => (await one.holder("s"))?.isThisProcess));
    same(await holders(), [undefined, undefined]);
    await fails("invalid_argument", store.holder(""));
    const writer = await store.create(headerOf("s"));
    same(await holders(), [true, true]);
    const since = (await other.holder("s"))?.since;
    check(Number.isFinite(since), `held since ${since}`);
    same(await store.holder("t"), undefined);
    await writer.close();
    same(await holders(), [undefined, undefined]);
    await using(await other.open("s"), async () => same(await holders(), [true, true]));
    await other.delete("s");
    same(await holders(), [undefined, undefined]);
  },

  async "lets exactly one of several concurrent opens succeed"(store, reopen) {
    await using(await store.create(headerOf("s")));
    const stores = [store, await reopen(), await reopen(), await reopen()];
    const opened = await Promise.allSettled(stores.map((one) => one.open("s")));
    const writers = opened.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    same(writers.length, 1);
    for (const one of opened)
      if (one.status === "rejected") await fails("session_locked", Promise.reject(one.reason));
    await writers[0]?.close();
  },
};
