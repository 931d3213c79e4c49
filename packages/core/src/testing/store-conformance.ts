/**
 * What every store of sessions has to do, as named cases for any test runner: give it a function
 * that makes an empty store, and run each case. A case fails by rejecting. One table, and so as
 * long as the contract.
 */
import type { AnyEntry } from "../session/entry.ts";
import type { Store } from "../session/store.ts";
import {
  check,
  collect,
  entries,
  entry,
  fails,
  headerOf,
  messageEntry,
  nextOf,
  readAll,
  same,
  soon,
  titleEntry,
  using,
} from "./store-checks.ts";

export interface StoreFixture {
  /** Holds nothing yet. */
  readonly store: Store;
  /**
   * Another store on the same sessions, as another process would have it; without it those cases
   * use the same store.
   */
  readonly reopen?: () => Store | Promise<Store>;
  /** Called after the case. */
  readonly dispose?: () => unknown;
}

export interface ConformanceCase {
  /** A sentence. */
  readonly name: string;
  readonly run: () => Promise<void>;
}

export function storeConformance(
  createStore: () => StoreFixture | Promise<StoreFixture>,
): ConformanceCase[] {
  return Object.entries(cases).map(([name, work]) => ({
    name,
    async run() {
      const { store, reopen = () => store, dispose } = await createStore();
      try {
        await work(store, async () => reopen());
      } finally {
        await dispose?.();
      }
    },
  }));
}

type Case = (store: Store, reopen: () => Promise<Store>) => Promise<void>;

/** Ids that are file names, paths, patterns or commands elsewhere. */
const hostileIds = [
  "../../escape",
  "/etc/passwd",
  "..",
  ".",
  "a/b\\c",
  "nul\u0000byte",
  "CON",
  "con",
  "a",
  "A",
  "%61",
  "名前 🪢",
  "e\u0301",
  "\u00E9",
  '* ? < > | : "',
  "line\nbreak",
  "-rf",
  "__proto__",
  "x".repeat(512),
  `${"x".repeat(511)}y`,
  "🪢".repeat(200),
];

const cases: Readonly<Record<string, Case>> = {
  async "a session is made, held, and there to load"(store, reopen) {
    const header = {
      id: "s",
      createdAt: 5,
      origin: { sessionId: "o", entryId: "e" },
      metadata: { folder: "/x" },
    };
    const writer = await store.create(header);
    same([writer.header, writer.last, writer.nextSeq, writer.damage], [header, undefined, 0, []]);
    await writer.close();
    same(await (await reopen()).load("s"), header);
  },

  async "a second session of the same id is refused"(store) {
    await using(await store.create(headerOf("s"), entries(1)));
    await fails("invalid_state", store.create(headerOf("s")));
    same(await readAll(store, "s"), entries(1));
  },

  async "a session that is not there is not found"(store) {
    await fails("not_found", store.open("s"));
    await fails("not_found", store.load("s"));
    await fails("not_found", store.delete("s"));
    await fails("not_found", readAll(store, "s"));
    await fails("not_found", nextOf(store.follow("s")));
    same((await store.list()).sessions, []);
  },

  async "an id that cannot be one is refused"(store) {
    for (const id of ["", "x".repeat(513), "\uD800"]) {
      await fails("invalid_argument", store.create(headerOf(id)));
      await fails("invalid_argument", store.open(id));
      await fails("invalid_argument", store.load(id));
      await fails("invalid_argument", store.delete(id));
      await fails("invalid_argument", readAll(store, id));
    }
  },

  async "ids are told apart, whatever they are"(store, reopen) {
    for (const id of hostileIds)
      await using(await store.create(headerOf(id), [entry(0, { text: id })]));
    const again = await reopen();
    for (const id of hostileIds) {
      same(await again.load(id), headerOf(id));
      same(await readAll(again, id), [entry(0, { text: id })]);
    }
    const listed = (await again.list({ limit: 100 })).sessions.map(({ id }) => id);
    same(listed.toSorted(), hostileIds.toSorted());
  },

  async "what was appended is read as it was"(store, reopen) {
    const odd = [
      { ...entry(0), text: '\u0000 \u2028 \uD83E\uDEA2 \uD800 " \\ \n' },
      JSON.parse(
        '{"seq":1,"id":"e1","parentId":null,"timestamp":1,"type":"x","__proto__":{"a":1},"crc":"0","1":2}',
      ) as AnyEntry,
      {
        ...entry(2),
        type: "of a newer version",
        deep: { list: [1, 1.5, 1e300, -0, null, true, ["", {}]] },
      },
    ];
    await using(await store.create(headerOf("s")), (writer) => writer.append(odd));
    same(await readAll(await reopen(), "s"), odd);
  },

  async "first entries are there with the session"(store, reopen) {
    await using(await store.create(headerOf("s"), entries(3)), async (writer) => {
      same([writer.last, writer.nextSeq], [entry(2), 3]);
      await writer.append([entry(3)]);
    });
    same(await readAll(await reopen(), "s"), entries(4));
  },

  async "appends that nobody awaited are in order"(store, reopen) {
    const all = entries(100);
    await using(await store.create(headerOf("s")), async (writer) => {
      await Promise.all(all.map((one) => writer.append([one])));
      same([writer.last, writer.nextSeq], [entry(99), 100]);
    });
    same(await readAll(await reopen(), "s"), all);
  },

  async "closing waits for what was appended"(store, reopen) {
    const writer = await store.create(headerOf("s"));
    const appended = writer.append(entries(50));
    await writer.close();
    await appended;
    same(await readAll(await reopen(), "s"), entries(50));
  },

  async "entries that do not count on are refused, and nothing of them kept"(store) {
    await using(await store.create(headerOf("s"), entries(2)), async (writer) => {
      for (const wrong of [[entry(1)], [entry(3)], [entry(2), entry(2)], [entry(2), entry(4)]]) {
        await fails("invalid_argument", writer.append(wrong));
      }
      const circular: Record<string, unknown> = {};
      circular.self = circular;
      await fails("invalid_argument", writer.append([{ ...entry(2), ...circular }]));
      await writer.append([]);
      await writer.append([entry(2)]);
    });
    same(await readAll(store, "s"), entries(3));
  },

  async "a session whose first entries are refused is not there"(store) {
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    for (const first of [[entry(1)], [entry(0), { ...entry(1), ...circular }]]) {
      await fails("invalid_argument", store.create(headerOf("s"), first));
      await fails("not_found", store.load("s"));
      same((await store.list()).sessions, []);
    }
    await using(await store.create(headerOf("s"), entries(2)));
  },

  async "a later change of an entry's object changes nothing"(store) {
    const mine = { ...entry(0), list: [1] };
    const writer = await store.create(headerOf("s"));
    const appended = writer.append([mine]);
    mine.list.push(2);
    await appended;
    await writer.close();
    same(await readAll(store, "s"), [{ ...entry(0), list: [1] }]);
  },

  async "there is one writer, and the second is told who it is"(store, reopen) {
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

  async "who holds a session can be asked, also where there is none"(store, reopen) {
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

  async "of several that open at once one gets it"(store, reopen) {
    await using(await store.create(headerOf("s")));
    const stores = [store, await reopen(), await reopen(), await reopen()];
    const opened = await Promise.allSettled(stores.map((one) => one.open("s")));
    const writers = opened.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    same(writers.length, 1);
    for (const one of opened)
      if (one.status === "rejected") await fails("session_locked", Promise.reject(one.reason));
    await writers[0]?.close();
  },

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

  async "what is deleted is gone, and its id free"(store, reopen) {
    await using(await store.create(headerOf("s"), entries(3)));
    await store.delete("s");
    await fails("not_found", (await reopen()).load("s"));
    same((await store.list()).sessions, []);
    await using(await store.create({ id: "s", createdAt: 9 }));
    same(await readAll(store, "s"), []);
    same((await store.list()).sessions, [
      { id: "s", createdAt: 9, updatedAt: 9, entryCount: 0, messageCount: 0 },
    ]);
  },

  async "a list says which model was asked or chosen last"(store) {
    const [asked, chosen] = [
      { provider: "p", model: "a", thinkingLevel: "low" },
      { provider: "p", model: "b", agent: "x" },
    ];
    const first = [entry(0, { type: "run_start", runId: "r", model: asked })];
    await using(await store.create(headerOf("s"), first), async (writer) => {
      same((await store.list()).sessions[0]?.model, asked);
      await writer.append([entry(1, { type: "model_change", ...chosen }), entry(2)]);
      same((await store.list()).sessions[0]?.model, chosen);
      await writer.append([entry(3, { type: "run_start", runId: "t", model: asked })]);
      same((await store.list()).sessions[0]?.model, { ...asked, agent: "x" });
    });
  },

  async "a list has titles, times and counts"(store, reopen) {
    const header = { ...headerOf("a"), metadata: { folder: "/x" } };
    const said = [
      messageEntry(0, "assistant", "Hi"),
      messageEntry(1, "user", `  Mend the\n roof ${"x".repeat(80)}`),
      { ...messageEntry(2, "user", "no"), timestamp: 99 },
      messageEntry(3, "assistant", "ok"),
    ];
    await using(await store.create(header), (writer) => writer.append(said));
    await using(
      await store.create({ id: "b", createdAt: 500 }, [messageEntry(0, "user", "First")]),
      async (writer) => {
        await store.list();
        await writer.append([titleEntry(1, "Named")]);
      },
    );
    const title = `Mend the roof ${"x".repeat(41)}…`;
    const a = { ...header, title, updatedAt: 99, entryCount: 4, messageCount: 4 };
    const b = {
      id: "b",
      createdAt: 500,
      title: "Named",
      updatedAt: 500,
      entryCount: 2,
      messageCount: 1,
    };
    for (const one of [store, await reopen(), store]) same(await one.list(), { sessions: [b, a] });
  },

  async "a list is searched by title and given in pages"(store) {
    for (let at = 0; at < 25; at++) {
      const header = { id: `s${at}`, createdAt: 1000 + Math.floor(at / 3) };
      await using(
        await store.create(header, [titleEntry(0, at % 2 === 0 ? `Éven ${at}` : `Odd ${at}`)]),
      );
    }
    const ids: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await store.list({ limit: 4, cursor, search: "éVEN" });
      check(page.sessions.length <= 4, "the page is too long");
      ids.push(...page.sessions.map(({ id }) => id));
      cursor = page.cursor;
      await using(
        await store.create({ id: `new${ids.length}`, createdAt: 2000 }, [
          titleEntry(0, "Even newer"),
        ]),
      );
    } while (cursor !== undefined);
    same(ids.toSorted(), Array.from({ length: 13 }, (_, at) => `s${at * 2}`).toSorted());
    same((await store.list({ search: "nowhere" })).sessions, []);
    await fails("invalid_argument", store.list({ cursor: "?" }));
  },
};
