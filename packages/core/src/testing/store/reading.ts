/** Conformance cases for reading and following. */
import type { AnyEntry } from "../../session/entry.ts";
import {
  check,
  collect,
  entries,
  entry,
  headerOf,
  readAll,
  same,
  soon,
  using,
  type StoreCase,
} from "./checks.ts";

export const reading: Readonly<Record<string, StoreCase>> = {
  async "reads from the given seq, forward and in reverse"(store) {
    const all = entries(2000);
    await using(await store.create(headerOf("s"), all.slice(0, 500)), async (writer) => {
      for (let at = 500; at < all.length; at += 100) await writer.append(all.slice(at, at + 100));
    });
    for (const from of [undefined, 0, 1, 999, 1999, 2000, 5000]) {
      same(await readAll(store, "s", { from }), all.slice(from ?? 0), `from ${from}`);
      const back = all.slice(0, (from ?? 1999) + 1).toReversed();
      same(await readAll(store, "s", { from, reverse: true }), back, `back from ${from}`);
    }
  },

  async "lets a reader stop early"(store) {
    await using(await store.create(headerOf("s"), entries(2000)));
    for await (const batch of store.read("s", { from: 10 })) {
      same(batch[0], entry(10));
      check(batch.length < 1990, "all came in one batch");
      break;
    }
    await using(await store.open("s"));
  },

  async "reads no entries from an empty session"(store) {
    await using(await store.create(headerOf("s")));
    same([await readAll(store, "s"), await readAll(store, "s", { reverse: true })], [[], []]);
  },

  async "gives followers current and new entries without gaps"(store, reopen) {
    const all = entries(300);
    const stop = new AbortController();
    const writer = await store.create(headerOf("s"), all.slice(0, 20));
    const other = await reopen();
    const starts = [0, 0, 7, 19, 20, 150];
    const followers = starts.map((from, at) =>
      collect(at % 2 === 0 ? store : other, from, all.length - from, stop.signal),
    );
    for (let at = 20; at < all.length; at += 7) {
      await writer.append(all.slice(at, at + 7));
      if (at % 3 === 0) await soon();
    }
    for (const [at, from] of starts.entries())
      same(await followers[at], all.slice(from), `the follower from ${from}`);
    await writer.close();
    stop.abort();
  },

  async "keeps a follower waiting until its signal fires"(store) {
    const stop = new AbortController();
    const writer = await store.create(headerOf("s"), entries(1));
    const follower = store.follow("s", { from: 0, signal: stop.signal })[Symbol.asyncIterator]();
    same((await follower.next()).value, entries(1));
    const next = follower.next();
    same(
      await Promise.race([next, soon()]),
      undefined,
      "the result of next() before the signal fires",
    );
    stop.abort();
    same((await next).done, true);
    same(await collect(store, 0, Infinity, AbortSignal.abort()), []);
    await writer.close();
  },

  async "follows several writers in turn and ends when the session is deleted"(store, reopen) {
    await using(await store.create(headerOf("s"), entries(1)));
    const follower = (await reopen()).follow("s", { from: 0 })[Symbol.asyncIterator]();
    const seen: AnyEntry[] = [...((await follower.next()).value ?? [])];
    for (const next of [entry(1), entry(2)]) {
      await using(await store.open("s"), (writer) => writer.append([next]));
      seen.push(...((await follower.next()).value ?? []));
    }
    same(seen, entries(3));
    await store.delete("s");
    same((await follower.next()).done, true);
  },
};
