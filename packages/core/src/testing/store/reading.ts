/** Reading and following. */
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
  async "reading begins where it is told to, and goes back as well"(store) {
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

  async "reading can be left early"(store) {
    await using(await store.create(headerOf("s"), entries(2000)));
    for await (const batch of store.read("s", { from: 10 })) {
      same(batch[0], entry(10));
      check(batch.length < 1990, "all came in one batch");
      break;
    }
    await using(await store.open("s"));
  },

  async "a session without entries is read as such"(store) {
    await using(await store.create(headerOf("s")));
    same([await readAll(store, "s"), await readAll(store, "s", { reverse: true })], [[], []]);
  },

  async "followers get what is there and what comes, without a gap"(store, reopen) {
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

  async "a follower waits until it is told to stop"(store) {
    const stop = new AbortController();
    const writer = await store.create(headerOf("s"), entries(1));
    const follower = store.follow("s", { from: 0, signal: stop.signal })[Symbol.asyncIterator]();
    same((await follower.next()).value, entries(1));
    const next = follower.next();
    same(
      await Promise.race([next, soon()]),
      undefined,
      "what it comes to before it is told to stop",
    );
    stop.abort();
    same((await next).done, true);
    same(await collect(store, 0, Infinity, AbortSignal.abort()), []);
    await writer.close();
  },

  async "a follower goes on over several writers, and ends with the session"(store, reopen) {
    await using(await store.create(headerOf("s"), entries(1)));
    const follower = collect(await reopen(), 0, Infinity);
    await using(await store.open("s"), (writer) => writer.append([entry(1)]));
    await using(await store.open("s"), (writer) => writer.append([entry(2)]));
    await store.delete("s");
    const seen = await follower;
    same(seen, entries(seen.length));
  },
};
