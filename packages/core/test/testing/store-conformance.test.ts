import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AnyEntry } from "../../src/session/entry.ts";
import type { SessionWriter, Store } from "../../src/session/store.ts";
import { createMemoryStore } from "../../src/session/index.ts";
import { storeConformance } from "../../src/testing/index.ts";
import { liesOf, LyingStore } from "./lying-store.ts";

const names = storeConformance(() => ({ store: createMemoryStore() })).map(({ name }) => name);

/** Wrong answers that a case need not detect, because the call is only preparation. */
const harmless: Readonly<Record<string, readonly string[]>> = {
  // This append is empty.
  "refuses entries out of sequence or not JSON, and stores none of them": ["append lost"],
  // A session that still exists has no holder either.
  "returns the holder of a session, and undefined when there is none": ["delete lost"],
  // The call only fills the cache of a store that caches its list.
  "lists titles, times and counts": ["list wrong"],
};

/** Cases that open no second store on the same sessions. */
const ofOneProcess = [
  "refuses to create a second session with the same id",
  "rejects with not_found for a missing session",
  "refuses an invalid id",
  "refuses entries out of sequence or not JSON, and stores none of them",
  "creates no session when its first entries are refused",
  "ignores later changes to an appended entry's object",
  "reads from the given seq, forward and in reverse",
  "lets a reader stop early",
  "reads no entries from an empty session",
  "keeps a follower waiting until its signal fires",
  "deletes a session and frees its id",
  "lists the model that was used or chosen last",
  "searches a list by title and returns it in pages",
];

const openAndDelete = ["open", "delete", "open", "delete", "append", "open"];
const createAndLoad = ["create", "load", "create", "load"];
const appends = (count: number): string[] => Array.from({ length: count }, () => "append");

/** Returns the error of the case, or undefined if the case passes. */
async function failureOf(name: string, liar: LyingStore): Promise<unknown> {
  const store = liar.wrap(createMemoryStore());
  const found = storeConformance(() => ({ store })).find((one) => one.name === name);
  assert.ok(found, name);
  return found.run().then(
    () => undefined,
    (error: unknown) => error ?? "rejected",
  );
}

describe("storeConformance", () => {
  for (const name of names)
    it(`fails for a store that lies about one call of "${name}"`, async () => {
      const truthful = new LyingStore();
      assert.equal(await failureOf(name, truthful), undefined);
      const unnoticed: string[] = [];
      for (const [at, call] of truthful.calls.entries())
        for (const lie of liesOf(call)) {
          // A follower waits for the lost entry, as it should.
          const waits = lie === "lost" && truthful.calls.some(({ method }) => method === "follow");
          if (!waits && (await failureOf(name, new LyingStore(at, lie))) === undefined)
            unnoticed.push(`${call.method} ${lie}`);
        }
      assert.deepEqual(unnoticed, harmless[name] ?? []);
    });

  it("fails for a writer that cannot be closed twice", async () => {
    const store = createMemoryStore();
    const strict: Store = {
      ...store,
      create: async (...args) => {
        const writer = await store.create(...args);
        let isClosed = false;
        const close = (): Promise<void> =>
          isClosed
            ? Promise.reject(new Error("closed twice"))
            : ((isClosed = true), writer.close());
        return new Proxy(writer, {
          get: (_, name) => {
            const value = (name === "close" ? close : Reflect.get(writer, name)) as unknown;
            return typeof value === "function" ? (value.bind(writer) as unknown) : value;
          },
        });
      },
    };
    const cases = storeConformance(() => ({ store: strict }));
    const found = cases.find(({ name }) => name.startsWith("allows one writer"));
    await assert.rejects(found?.run() ?? Promise.resolve(), /closed twice/);
  });

  it("fails in each case that reopens a store, if the other one gives wrong answers", async () => {
    const wrong = async function* (batches: AsyncIterable<readonly AnyEntry[]>) {
      for await (const [first, ...others] of batches)
        if (first !== undefined) yield [{ ...first, timestamp: -1 }, ...others];
    };
    const passed: string[] = [];
    for (const name of names) {
      const store = createMemoryStore();
      const other: Store = {
        ...store,
        load: async (id) => ({ ...(await store.load(id)), createdAt: -1 }),
        list: async () => ({ sessions: [] }),
        holder: async () => undefined,
        open: async () => Promise.reject(new Error("broken")),
        read: (...given) => wrong(store.read(...given)),
        follow: (...given) => wrong(store.follow(...given)),
      };
      const cases = storeConformance(() => ({ store, reopen: () => other }));
      await cases
        .find((one) => one.name === name)
        ?.run()
        .then(
          () => passed.push(name),
          () => {},
        );
    }
    assert.deepEqual(passed, ofOneProcess);
  });

  for (const [what, name, change] of [
    [
      "empties a session when it refuses to create it again",
      "refuses to create a second session with the same id",
      (store) => ({
        async create(header, ...entries) {
          try {
            return await store.create(header, ...entries);
          } catch (error) {
            await store.delete(header.id);
            await (await store.create(header)).close();
            throw error;
          }
        },
      }),
    ],
    [
      "creates a session whose entries it refuses",
      "creates no session when its first entries are refused",
      (store) => ({
        async create(header, entries) {
          try {
            return await store.create(header, entries);
          } catch (error) {
            await (await store.create(header)).close();
            throw error;
          }
        },
      }),
    ],
  ] as const satisfies [string, string, (store: Store) => Partial<Store>][])
    it(`fails for a store that ${what}`, async () => {
      const made = createMemoryStore();
      const store: Store = { ...made, ...change(made) };
      const found = storeConformance(() => ({ store })).find((one) => one.name === name);
      await assert.rejects(async () => found?.run(), /^Error: (?:the answer is |expected )/);
    });

  it("checks the refusals of each method", async () => {
    const all = ["open", "load", "delete", "read"];
    const each = ["create", "open", "load", "delete", "read"];
    for (const [name, methods] of [
      ["rejects with not_found for a missing session", [...all, "follow"]],
      ["refuses an invalid id", [...each, ...each, ...each]],
      ["refuses to create a second session with the same id", ["create"]],
      ["allows one writer and names it in the second writer's error", openAndDelete],
      ["returns the holder of a session, and undefined when there is none", ["holder"]],
      ["refuses entries out of sequence or not JSON, and stores none of them", appends(5)],
      ["creates no session when its first entries are refused", createAndLoad],
      ["searches a list by title and returns it in pages", ["list"]],
    ] as const) {
      const truthful = new LyingStore();
      await failureOf(name, truthful);
      const refused = truthful.calls.filter(({ isRejected }) => isRejected);
      assert.deepEqual(
        refused.map(({ method }) => method),
        methods,
        name,
      );
    }
  });

  it("reports the expected and the actual failure", async () => {
    const name = "refuses to create a second session with the same id";
    for (const [lie, came] of [
      ["accepted", /^expected a failure coded invalid_state, got none$/],
      ["other code", /^expected a failure coded invalid_state, got .*The store lies\.$/],
    ] as const) {
      const error = await failureOf(name, new LyingStore(2, lie));
      assert.match((error as Error).message, came);
    }
  });

  const made = "creates a session, opens it for writing, and loads its header";
  const first = "creates a session together with its first entries";
  const inOrder = "keeps the order of appends that were not awaited";
  const isHeld = "allows one writer and names it in the second writer's error";
  const noticedBy: [Partial<SessionWriter>, string[]][] = [
    [{ header: { id: "other", createdAt: 1 } }, [made, isHeld]],
    [{ damage: [{ message: "broken" }] }, [made, isHeld]],
    [{ nextSeq: 7 }, [made, first, inOrder, isHeld]],
    [{ last: undefined }, [first, inOrder, isHeld]],
  ];
  for (const [writers, cases] of noticedBy)
    it(`fails for writers with another ${Object.keys(writers).join()}`, async () => {
      const failed: string[] = [];
      for (const name of names)
        if ((await failureOf(name, new LyingStore(-1, undefined, writers))) !== undefined)
          failed.push(name);
      assert.deepEqual(failed, cases);
    });

  it("reports the actual and the expected value as JSON", async () => {
    const error = await failureOf(made, new LyingStore(-1, undefined, { nextSeq: 7 }));
    const header = '[["createdAt",5],["id","s"]';
    assert.ok(error instanceof Error);
    assert.ok(error.message.startsWith(`the answer is [${header}`), error.message);
    assert.match(error.message, /,7,\[\]\], expected \[.*,0,\[\]\]$/);
  });

  it("reports the part of long values in which they differ", async () => {
    const name = "follows several writers in turn and ends when the session is deleted";
    const long = "reads large files exactly as they were appended";
    for (const [about, cut] of [
      [
        name,
        /^the answer is \[\[\["id","e0"\],.*\["timestamp",-1\].*\], expected \[.*\["timestamp",0\]/,
      ],
      [long, /^the answer is ….{200}-1\].{397}…, expected ….{200}0\].{398}…$/],
    ] as const) {
      const truthful = new LyingStore();
      await failureOf(about, truthful);
      const at = truthful.calls.findIndex(({ method }) => method === "read" || method === "follow");
      const error = await failureOf(about, new LyingStore(at, "wrong"));
      assert.ok(error instanceof Error && error.message.length < 1300, String(error));
      assert.match(error.message, cut);
    }
  });

  it("disposes of each store, also when the case fails", async () => {
    for (const liar of [new LyingStore(), new LyingStore(0, "accepted")]) {
      let disposed = 0;
      const store = liar.wrap(createMemoryStore());
      const cases = storeConformance(() => ({ store, dispose: () => (disposed += 1) }));
      const found = cases.find(
        ({ name }) => name === "rejects with not_found for a missing session",
      );
      await Promise.allSettled([found?.run()]);
      assert.equal(disposed, 1);
    }
  });
});
