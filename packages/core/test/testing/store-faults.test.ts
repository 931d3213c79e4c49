/** Stores that are wrong in one respect, which the conformance kit must notice. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { BowlineError } from "../../src/errors.ts";
import { createMemoryStore } from "../../src/session/index.ts";
import type { SessionWriter, Store } from "../../src/session/store.ts";
import { storeConformance } from "../../src/testing/index.ts";

/** Runs one case with a memory store that has these methods. */
async function run(name: string, change: (own: Store) => Partial<Store>): Promise<void> {
  const own = createMemoryStore();
  const store: Store = { ...own, ...change(own) };
  const found = storeConformance(() => ({ store })).find((one) => one.name === name);
  assert.ok(found, name);
  await found.run();
}

/** Returns a change of all writers that a store creates or opens. */
const writing =
  (change: (own: SessionWriter) => Partial<SessionWriter>) =>
  (own: Store): Partial<Store> => {
    const changed = (writer: SessionWriter): SessionWriter => {
      const methods = change(writer);
      return new Proxy(writer, {
        get(_, name) {
          if (name in methods) return Reflect.get(methods, name) as unknown;
          const value = Reflect.get(writer, name) as unknown;
          return typeof value === "function" ? (value.bind(writer) as unknown) : value;
        },
      });
    };
    return {
      create: async (...args) => changed(await own.create(...args)),
      open: async (id) => changed(await own.open(id)),
    };
  };

const ghost = { id: "ghost", createdAt: 1, updatedAt: 1, entryCount: 0, messageCount: 0 };
const odd = { seq: 0, id: "e", parentId: null, timestamp: 0, type: "x" };
const isolated = "ignores later changes to an appended entry's object";
const follows = "follows several writers in turn and ends when the session is deleted";

const inventingAtTheEnd = (own: Store): Partial<Store> => ({
  async *follow(id, options) {
    yield* own.follow(id, options);
    yield [odd];
  },
});

const faults: readonly [
  what: string,
  name: string,
  change: (own: Store) => Partial<Store>,
  error: RegExp,
][] = [
  [
    "reads one session's entries for another whose id differs in case only",
    "keeps sessions with unusual or similar ids apart",
    (own) => ({ read: (id, options) => own.read(id === "A" ? "a" : id, options) }),
    /^the answer is .*"a".*, expected .*"A"/,
  ],
  [
    "loads one session's header for another whose id differs in case only",
    "keeps sessions with unusual or similar ids apart",
    (own) => ({ load: (id) => own.load(id === "A" ? "a" : id) }),
    /^the answer is .*"a".*, expected .*"A"/,
  ],
  [
    "does not list a session with an unusual id",
    "keeps sessions with unusual or similar ids apart",
    (own) => ({
      list: async (options) => {
        const { sessions, ...more } = await own.list(options);
        return { ...more, sessions: sessions.filter(({ id }) => id !== "__proto__") };
      },
    }),
    /^the answer is .*, expected .*__proto__/,
  ],
  [
    "loses an append that was pending when its writer closed",
    "waits for pending appends on close",
    writing(() => ({ append: async () => {} })),
    /^the answer is \[\], expected \[/,
  ],
  [
    "cannot close a writer that has pending appends",
    "waits for pending appends on close",
    writing(() => ({ close: () => Promise.reject(new Error("still writing")) })),
    /^still writing$/,
  ],
  [
    "fails an append that was pending when its writer closed",
    "waits for pending appends on close",
    writing((own) => ({
      append: async (entries) => {
        await own.append(entries);
        throw new BowlineError("storage_failed", "Not in time.");
      },
    })),
    /^Not in time\.$/,
  ],
  [
    "does not name the holder of a locked session",
    "allows one writer and names it in the second writer's error",
    (own) => ({
      open: (id) =>
        own.open(id).catch(() => {
          throw new BowlineError("session_locked", "Locked.");
        }),
    }),
    /^the holder is not named: Locked\.$/,
  ],
  [
    "lists a session that was never created",
    "rejects with not_found for a missing session",
    () => ({ list: async () => ({ sessions: [ghost] }) }),
    /^the answer is \[.*ghost.*\], expected \[\]$/,
  ],
  [
    "finds a session by words that its title does not have",
    "searches a list by title and returns it in pages",
    (own) => ({
      list: async (options) =>
        options?.search === "nowhere" ? { sessions: [ghost] } : own.list(options),
    }),
    /^the answer is \[.*ghost.*\], expected \[\]$/,
  ],
  [
    "reads a wrong entry when it reads forward from the given seq",
    "reads from the given seq, forward and in reverse",
    (own) => ({
      async *read(id, options) {
        const isFault = options?.from === 1999 && options.reverse !== true;
        if (isFault) yield [odd];
        else yield* own.read(id, options);
      },
    }),
    /^from 1999 is \[.*\], expected \[.*\]$/,
  ],
  [
    "reads a wrong entry when it reads back from the given seq",
    "reads from the given seq, forward and in reverse",
    (own) => ({
      async *read(id, options) {
        if (options?.from === 0 && options.reverse === true) yield [odd];
        else yield* own.read(id, options);
      },
    }),
    /^back from 0 is \[.*\], expected \[.*\]$/,
  ],
  [
    "invents an entry of an empty session",
    "reads no entries from an empty session",
    () => ({
      async *read() {
        yield [odd];
      },
    }),
    /, expected \[\[\],\[\]\]$/,
  ],
  [
    "reads an empty session in reverse only",
    "reads no entries from an empty session",
    (own) => ({
      async *read(id, options) {
        yield* own.read(id, options);
        if (options?.reverse === true) yield [odd];
      },
    }),
    /, expected \[\[\],\[\]\]$/,
  ],
  [
    "follows a session although the signal fired before",
    "keeps a follower waiting until its signal fires",
    (own) => ({
      async *follow(id, options) {
        if (options?.signal?.aborted !== true) yield* own.follow(id, options);
        else yield [odd];
      },
    }),
    /, expected \[\]$/,
  ],
  [
    "gives a follower other entries of the next writers",
    follows,
    (own) => ({
      async *follow(id, options) {
        let isFirst = true;
        for await (const batch of own.follow(id, options)) {
          yield isFirst ? batch : [odd];
          isFirst = false;
        }
      },
    }),
    /^the answer is /,
  ],
  [
    "gives a follower an entry of a deleted session",
    follows,
    inventingAtTheEnd,
    /^the answer is false, expected true$/,
  ],
  [
    "gives a follower an entry after its signal",
    "keeps a follower waiting until its signal fires",
    inventingAtTheEnd,
    /^the answer is false, expected true$/,
  ],
  [
    "reads an appended entry later than at the call",
    isolated,
    writing((own) => ({
      append: async (entries) => {
        await Promise.resolve();
        return own.append(entries);
      },
    })),
    /\["list",\[1,2\]\].*, expected .*\["list",\[1\]\]/,
  ],
  [
    "fails an append that it has made",
    isolated,
    writing((own) => ({
      append: async (entries) => {
        await own.append(entries);
        throw new BowlineError("storage_failed", "No.");
      },
    })),
    /^No\.$/,
  ],
  [
    "cannot close a writer",
    isolated,
    writing(() => ({ close: () => Promise.reject(new Error("still open")) })),
    /^still open$/,
  ],
];

describe("storeConformance", () => {
  for (const [what, name, change, error] of faults)
    it(`fails for a store that ${what}`, async () => {
      await assert.rejects(run(name, change), (thrown: Error) => error.test(thrown.message));
    });
});
