/** Conformance cases for creating sessions and appending to them. */
import type { AnyEntry } from "../../session/entry.ts";
import {
  entries,
  entry,
  fails,
  headerOf,
  nextOf,
  readAll,
  same,
  using,
  type StoreCase,
} from "./checks.ts";

/** Ids that have a special meaning as file names, paths, patterns or commands. */
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

export const writing: Readonly<Record<string, StoreCase>> = {
  async "creates a session, opens it for writing, and loads its header"(store, reopen) {
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

  async "refuses to create a second session with the same id"(store) {
    await using(await store.create(headerOf("s"), entries(1)));
    await fails("invalid_state", store.create(headerOf("s")));
    same(await readAll(store, "s"), entries(1));
  },

  async "rejects with not_found for a missing session"(store) {
    await fails("not_found", store.open("s"));
    await fails("not_found", store.load("s"));
    await fails("not_found", store.delete("s"));
    await fails("not_found", readAll(store, "s"));
    await fails("not_found", nextOf(store.follow("s")));
    same((await store.list()).sessions, []);
  },

  async "refuses an invalid id"(store) {
    for (const id of ["", "x".repeat(513), "\uD800"]) {
      await fails("invalid_argument", store.create(headerOf(id)));
      await fails("invalid_argument", store.open(id));
      await fails("invalid_argument", store.load(id));
      await fails("invalid_argument", store.delete(id));
      await fails("invalid_argument", readAll(store, id));
    }
  },

  async "keeps sessions with unusual or similar ids apart"(store, reopen) {
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

  async "reads entries exactly as they were appended"(store, reopen) {
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

  async "creates a session together with its first entries"(store, reopen) {
    await using(await store.create(headerOf("s"), entries(3)), async (writer) => {
      same([writer.last, writer.nextSeq], [entry(2), 3]);
      await writer.append([entry(3)]);
    });
    same(await readAll(await reopen(), "s"), entries(4));
  },

  async "keeps the order of appends that were not awaited"(store, reopen) {
    const all = entries(100);
    await using(await store.create(headerOf("s")), async (writer) => {
      await Promise.all(all.map((one) => writer.append([one])));
      same([writer.last, writer.nextSeq], [entry(99), 100]);
    });
    same(await readAll(await reopen(), "s"), all);
  },

  async "waits for pending appends on close"(store, reopen) {
    const writer = await store.create(headerOf("s"));
    const appended = writer.append(entries(50));
    await writer.close();
    await appended;
    same(await readAll(await reopen(), "s"), entries(50));
  },

  async "refuses entries out of sequence or not JSON, and stores none of them"(store) {
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

  async "creates no session when its first entries are refused"(store) {
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    for (const first of [[entry(1)], [entry(0), { ...entry(1), ...circular }]]) {
      await fails("invalid_argument", store.create(headerOf("s"), first));
      await fails("not_found", store.load("s"));
      same((await store.list()).sessions, []);
    }
    await using(await store.create(headerOf("s"), entries(2)));
  },

  async "ignores later changes to an appended entry's object"(store) {
    const mine = { ...entry(0), list: [1] };
    const writer = await store.create(headerOf("s"));
    const appended = writer.append([mine]);
    mine.list.push(2);
    await appended;
    await writer.close();
    same(await readAll(store, "s"), [{ ...entry(0), list: [1] }]);
  },
};
