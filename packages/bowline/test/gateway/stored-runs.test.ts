/** What gateways find of runs in a stored session, and runs that have not begun. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  createMemoryStore,
  createSession,
  type EntryBody,
  type Store,
} from "@bowline/core/session";
import {
  cancelledRun,
  createSecretFilter,
  findOpenRun,
  findRunEnd,
  findRunModel,
  queuedRun,
  readStoredSession,
} from "bowline/engine";
import { defaultLimits } from "../../src/gateway/protocol/limits.ts";
import { END_SEQ } from "../../src/gateway/remote/stored-run.ts";

/** A store whose session `s` has these entries. */
async function stored(...entries: EntryBody[]): Promise<Store> {
  const store = createMemoryStore();
  const session = await createSession(store, { id: "s" });
  for (const entry of entries) await session.append(entry);
  return store;
}

const model = { provider: "p", model: "m" } as const;
const start = (runId: string, more: object = {}): EntryBody => ({
  type: "run_start",
  runId,
  ...more,
});
const end = (runId: string, reason: string): EntryBody =>
  ({ type: "run_end", runId, reason }) as EntryBody;

describe("the end of a stored run", () => {
  for (const [reason, state] of [
    ["done", "final"],
    ["length", "final"],
    ["budget", "final"],
    ["aborted", "aborted"],
    ["error", "error"],
  ] as const)
    it(`is ${state} for the reason ${reason}`, async () => {
      const store = await stored(start("r"), end("r", reason));
      assert.deepEqual(await findRunEnd(store, "s", "r"), { seq: 1, state });
    });

  it("is unknown once the run has begun again, and is not that of another run", async () => {
    const store = await stored(start("r"), end("r", "error"), start("r"), end("q", "done"));
    assert.equal(await findRunEnd(store, "s", "r"), undefined);
  });

  it("rejects with the error of the store", async () => {
    const store = await stored();
    const broken: Store = {
      ...store,
      read: () => {
        throw new Error("the disk is gone");
      },
    };
    await assert.rejects(findRunEnd(broken, "s", "r"), /the disk is gone/);
  });
});

describe("the open run of a stored session", () => {
  it("is the last one that was started, unless it has ended", async () => {
    const find = async (...entries: EntryBody[]) => findOpenRun(await stored(...entries), "s");
    assert.equal(await find(), undefined);
    assert.equal(await find(start("a"), end("a", "done"), start("b")), "b");
    assert.equal(await find(start("a"), start("b"), end("b", "done")), undefined);
    assert.equal(await find(start("a"), end("b", "done")), "a");
    assert.equal(await find(start("a"), start("nested", { parentRunId: "a" })), "a");
    assert.equal(await findOpenRun(await stored(), "missing"), undefined);
  });
});

describe("a long stored session", () => {
  /** A store whose session has its only start before this many batches of 1000 entries. */
  function long(batches: number): Store {
    const others = Array.from({ length: 1000 }, (_, seq) => ({
      seq,
      id: `e${seq}`,
      parentId: null,
      timestamp: 0,
      type: "label",
    }));
    const begun = { seq: 0, id: "b", parentId: null, timestamp: 0, ...start("r", { model }) };
    return {
      ...createMemoryStore(),
      async *read() {
        for (let batch = 0; batch < batches; batch++) yield others;
        yield [begun];
      },
    };
  }

  it("is searched for its last run as far back as 10000 entries go", async () => {
    assert.equal(await findOpenRun(long(9), "s"), "r");
    assert.deepEqual(await findRunModel(long(9), "s", "r"), model);
    assert.equal(await findOpenRun(long(10), "s"), undefined);
    assert.equal(await findRunModel(long(10), "s", "r"), undefined);
  });
});

describe("the model of a stored run", () => {
  it("is the one that it began with, if it is the last run", async () => {
    const store = await stored(start("a", { model }), end("a", "done"), start("b"));
    assert.equal(await findRunModel(store, "s", "a"), undefined);
    assert.equal(await findRunModel(store, "s", "b"), undefined);
    const last = await stored(start("a"), start("b", { model }));
    assert.deepEqual(await findRunModel(last, "s", "b"), model);
    assert.equal(await findRunModel(last, "missing", "b"), undefined);
  });
});

describe("a run that has not begun", () => {
  const run = { runId: "r", sessionKey: "s", limits: defaultLimits };
  const framesOf = (found: ReturnType<typeof queuedRun>, seq?: number) =>
    found.since(seq).map(({ event, frame }) => [event, frame.seq]);

  it("has the event of its message, number 0", () => {
    const message = { messageId: "r", text: "Hi", kind: "send" } as const;
    const queued = queuedRun(run, message);
    assert.deepEqual(framesOf(queued, -1), [["chat.queued", 0]]);
    assert.match(queued.since(-1)[0]?.frame.json ?? "", /"text":"Hi"/);
  });

  it("has the end of an ended, stored run if it was cancelled", () => {
    const cancelled = cancelledRun(run);
    const { state, seq } = cancelled.info;
    assert.deepEqual([state, seq], ["aborted", END_SEQ]);
    assert.deepEqual(framesOf(cancelled).at(-1), ["chat.aborted", END_SEQ]);
    assert.deepEqual(framesOf(cancelled, END_SEQ), []);
  });
});

describe("a stored session", () => {
  it("shows no run that is not in it, and an interrupted one as running", async () => {
    const options = { filter: createSecretFilter([]), limits: defaultLimits };
    const store = await stored(start("r"));
    const session = await readStoredSession({ store, ...options }, "s");
    assert.equal(session.run("r")?.info.state, "running");
    assert.equal(session.run("q"), undefined);
    const over = await stored(start("r"), end("q", "done"));
    const again = await readStoredSession({ store: over, ...options }, "s");
    assert.equal(again.run("r")?.info.state, "running");
  });
});
