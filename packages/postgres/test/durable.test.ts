/** Epochs, appends by key and the inbox, as a durable engine uses them. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isBowlineError } from "@bowline/core";
import { openSession } from "@bowline/core/session";
import { isSessionFenced, type DurableItem, type DurableSessions } from "../src/index.ts";
import { entry, errorOf, readAll, skip, startRig } from "./support.ts";

const rig = await startRig();
let count = 0;

interface Engine {
  readonly durable: DurableSessions;
  readonly store: ReturnType<typeof rig.open>;
  readonly id: string;
}

async function engine(): Promise<Engine> {
  const store = rig.open();
  const id = `d${++count}`;
  await store.durable.ensure({ id, createdAt: 1 });
  return { store, durable: store.durable, id };
}

function said(key: string, content = key, more: Partial<DurableItem> = {}): DurableItem {
  const message = { role: "user", content, timestamp: 1 } as const;
  return { key, body: { type: "message", message }, timestamp: 5, ...more };
}

const user = (content: string): { role: string } =>
  ({ role: "user", content, timestamp: 1 }) as { role: string };

describe("appends by key", { skip }, () => {
  it("get seq, id and parent, and are written once", async () => {
    const { durable, store, id } = await engine();
    const epoch = await durable.takeEpoch(id);
    const first = await durable.append(id, epoch, [said("r:0:0"), said("r:0:1")]);
    assert.deepEqual(first, [
      { seq: 0, id: "r:0:0", parentId: null, timestamp: 5, ...said("r:0:0").body },
      { seq: 1, id: "r:0:1", parentId: "r:0:0", timestamp: 5, ...said("r:0:1").body },
    ]);
    // The first text under a key counts, whoever wrote it.
    const again = await durable.append(id, epoch, [said("r:0:1", "other"), said("r:1:0")]);
    assert.deepEqual(again[0], first[1]);
    assert.deepEqual([again[1]?.seq, again[1]?.parentId], [2, "r:0:1"]);
    assert.deepEqual(await readAll(store, id), [...first, again[1]]);
    assert.deepEqual(await durable.append(id, epoch, []), []);
    const branch = await durable.append(id, epoch, [said("branch", "b", { parentId: "r:0:0" })]);
    assert.equal(branch[0]?.parentId, "r:0:0");
    const messages = await (await openSession(store, id, { readOnly: true })).contextMessages();
    assert.deepEqual(
      messages.map((one) => (one as { content?: unknown }).content),
      ["r:0:0", "b"],
    );
    const [summary] = (await store.list({ search: "r:0:0" })).sessions;
    assert.deepEqual([summary?.entryCount, summary?.messageCount], [4, 4]);
  });

  it("of several processes at once get different numbers, and one of each key", async () => {
    const { durable, store, id } = await engine();
    const epoch = await durable.takeEpoch(id);
    const large = "x".repeat(30_000);
    const all = Array.from({ length: 40 }, (_, n) => said(`k${n % 20}`, large));
    const stores = [durable, rig.open().durable, rig.open().durable];
    const written = await Promise.all(
      all.map(
        async (item, n) => (await (stores[n % 3] as DurableSessions).append(id, epoch, [item]))[0],
      ),
    );
    const stored = await readAll(store, id);
    assert.deepEqual(
      stored.map(({ seq }) => seq),
      Array.from({ length: 20 }, (_, seq) => seq),
    );
    for (const [n, one] of written.entries())
      assert.deepEqual(
        one,
        stored.find((other) => other.id === `k${n % 20}`),
      );
  });

  it("refuse an old epoch with an error that can be retried", async () => {
    const { durable, store, id } = await engine();
    const old = await durable.takeEpoch(id);
    const epoch = await durable.takeEpoch(id);
    assert.equal(epoch, old + 1);
    for (const refused of [
      () => durable.append(id, old, [said("zombie")]),
      () => durable.drain(id, old, { runId: "r", name: "0" }),
    ]) {
      const error = await errorOf(refused());
      assert.ok(isSessionFenced(error), error.message);
      assert.deepEqual(
        [error.code, error.retryable, error.epoch, error.currentEpoch],
        ["session_locked", true, old, epoch],
      );
      assert.match(error.message, /taken over by another writer/);
    }
    assert.deepEqual(await readAll(store, id), []);
  });

  it("of a deleted session are fenced in a new session with its id", async () => {
    const { durable, store, id } = await engine();
    const zombie = await durable.takeEpoch(id);
    await store.delete(id);
    await durable.ensure({ id, createdAt: 2 });
    const isFenced = (error: unknown): boolean => isSessionFenced(error);
    await assert.rejects(durable.append(id, zombie, [said("before")]), isFenced);
    assert.ok((await durable.takeEpoch(id)) > zombie);
    await assert.rejects(durable.append(id, zombie, [said("after")]), isFenced);
    await store.delete(id);
    const writer = await store.create({ id, createdAt: 3 }, []);
    await assert.rejects(durable.append(id, zombie, [said("beside a writer")]), isFenced);
    await writer.close();
    assert.deepEqual(await readAll(store, id), []);
  });

  it("fence an open writer, and are fenced by the next one", async () => {
    const { durable, store, id } = await engine();
    const writer = await store.open(id);
    await writer.append([entry(0)]);
    // A rename during a run takes a number that the writer does not know.
    const title = await durable.append(id, undefined, [
      { key: "rename", body: { type: "title", title: "New" } },
    ]);
    assert.deepEqual([title[0]?.seq, title[0]?.parentId], [1, "e0"]);
    const late = await errorOf(writer.append([entry(1)]));
    assert.deepEqual([late.code, late.retryable], ["session_locked", true]);
    assert.match(late.message, /next entry has seq 2, not 1/);
    const current = await store.open(id, { takeOver: true });
    const epoch = await durable.takeEpoch(id);
    assert.ok(isSessionFenced(await errorOf(writer.append([entry(1)]))));
    await writer.close();
    // Its numbers are right, and its epoch is old.
    assert.ok(isSessionFenced(await errorOf(current.append([entry(2)]))));
    assert.ok(isSessionFenced(await errorOf(current.append([entry(2)]))));
    await (await store.open(id)).close();
    assert.ok(isSessionFenced(await errorOf(durable.append(id, epoch, [said("x")]))));
    assert.equal(
      (await store.list({ search: "new" })).sessions.some((one) => one.id === id),
      true,
    );
  });

  it("bring nothing back into a session that was deleted", async () => {
    const { durable, store, id } = await engine();
    const epoch = await durable.takeEpoch(id);
    await durable.push(id, { id: "m", queue: "steering", message: user("secret") });
    await durable.append(id, epoch, [said("k")]);
    await store.delete(id);
    for (const refused of [
      () => durable.append(id, epoch, [said("k2")]),
      () => durable.drain(id, epoch, { runId: "r", name: "0" }),
      () => durable.push(id, { id: "m", queue: "steering", message: user("x") }),
      () => durable.claimRun(id, "m", "r"),
      () => durable.takeEpoch(id),
      () => durable.pending(id),
    ])
      assert.equal((await errorOf(refused())).code, "not_found");
    assert.equal(
      await rig.server.sql(
        "select count(*) from bowline.inbox where message like '%secret%'",
        "test_1",
      ),
      "0",
    );
  });

  it("refuse wrong arguments", async () => {
    const { durable, id } = await engine();
    const epoch = await durable.takeEpoch(id);
    for (const wrong of [
      () => durable.append(id, epoch, [said("")]),
      () => durable.append(id, epoch, [said("x".repeat(513))]),
      () => durable.append(id, epoch, [said("same"), said("same")]),
      () => durable.append(id, epoch, [{ key: "k", body: { type: "unknown" } as never }]),
      () => durable.append("", epoch, []),
      () => durable.ensure({ id: "", createdAt: 1 }),
      () => durable.claimRun(id, "", "r"),
    ])
      assert.equal((await errorOf(wrong())).code, "invalid_argument");
    const header = { id, createdAt: 9, metadata: { other: true } };
    assert.deepEqual(await durable.ensure(header), { id, createdAt: 1 });
  });
});

describe("the inbox", { skip }, () => {
  it("gives a drain the same messages whenever it is called", async () => {
    const { durable, id } = await engine();
    const epoch = await durable.takeEpoch(id);
    const push = (message: string, queue: "steering" | "followUp" = "steering"): Promise<unknown> =>
      durable.push(id, { id: message, queue, message: user(message) });
    assert.deepEqual(await durable.drain(id, epoch, { runId: "r", name: "0" }), []);
    assert.deepEqual(await push("a"), { state: "pending" });
    await push("b", "followUp");
    assert.deepEqual(await push("a"), { state: "pending" });
    assert.equal(await durable.pending(id), 2);
    // It took nothing the first time, so it takes nothing now.
    assert.deepEqual(await durable.drain(id, epoch, { runId: "r", name: "0" }), []);
    const one = await durable.drain(id, epoch, { runId: "r", name: "1" });
    assert.deepEqual(
      one.map(({ id: name, queue, message }) => [name, queue, message]),
      [
        ["a", "steering", user("a")],
        ["b", "followUp", user("b")],
      ],
    );
    await push("c");
    assert.deepEqual(await push("a"), { state: "taken", runId: "r" });
    const next = await durable.takeEpoch(id);
    assert.deepEqual(await durable.drain(id, next, { runId: "r", name: "1" }), one);
    assert.equal(await durable.pending(id), 1);
    assert.deepEqual(
      (await durable.drain(id, next, { runId: "q", name: "1" })).map((message) => message.id),
      ["c"],
    );
    assert.equal(await durable.pending(id), 0);
  });

  it("gives each message to one of several drains at once", async () => {
    const { durable, id } = await engine();
    const epoch = await durable.takeEpoch(id);
    const other = rig.open().durable;
    const names = Array.from({ length: 30 }, (_, n) => `m${n}`);
    const drained = await Promise.all(
      names.flatMap((name, n) => [
        durable.push(id, { id: name, queue: "steering", message: user(name) }).then(() => []),
        other.drain(id, epoch, { runId: "r", name: String(n % 10) }).then(() => []),
      ]),
    );
    assert.equal(drained.length, 60);
    const last = await durable.drain(id, epoch, { runId: "r", name: "last" });
    const all = await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        durable.drain(id, epoch, { runId: "r", name: String(n) }),
      ),
    );
    assert.deepEqual(
      [...all.flat(), ...last].map((message) => message.id).toSorted(),
      names.toSorted(),
    );
  });

  it("gives a client's message to one run for ever", async () => {
    const { durable, id } = await engine();
    assert.equal(await durable.findMessage(id, "m"), undefined);
    const runs = await Promise.all(
      ["r1", "r2", "r3"].map((run) => rig.open().durable.claimRun(id, "m", run)),
    );
    assert.equal(new Set(runs.map(({ runId }) => runId)).size, 1);
    assert.equal(runs[0]?.state, "taken");
    assert.deepEqual(await durable.findMessage(id, "m"), runs[0]);
    const again = { id: "m", queue: "steering", message: user("m") } as const;
    assert.deepEqual(await durable.push(id, again), runs[0]);
    // A message that waits can begin a run instead, and is then in no queue.
    await durable.push(id, { id: "n", queue: "followUp", message: user("n") });
    assert.deepEqual(await durable.findMessage(id, "n"), { state: "pending" });
    assert.deepEqual(await durable.claimRun(id, "n", "r4"), { state: "taken", runId: "r4" });
    assert.equal(await durable.pending(id), 0);
  });

  it("puts messages back in their places, once, and only those of the run", async () => {
    const { durable, id } = await engine();
    const epoch = await durable.takeEpoch(id);
    const push = (name: string): Promise<unknown> =>
      durable.push(id, { id: name, queue: "followUp", message: user(name) });
    const ids = (all: readonly { readonly id: string }[]): string[] => all.map((one) => one.id);
    await push("a");
    await push("b");
    const end = (runId: string, left: readonly string[], at = epoch): Promise<void> =>
      durable.end(id, at, { runId, items: [], left, isHolding: false });
    await durable.end(id, epoch, { runId: "x", items: [], left: [], isHolding: true });
    await durable.drain(id, epoch, { runId: "r", name: "0" });
    await push("c");
    await end("another", ["a", "b"]);
    assert.deepEqual(await durable.findMessage(id, "b"), { state: "taken", runId: "r" });
    await end("r", ["b"]);
    await end("r", ["b"]);
    assert.deepEqual(await durable.findMessage(id, "a"), { state: "taken", runId: "r" });
    assert.deepEqual(await durable.findMessage(id, "b"), { state: "pending" });
    // The message that it was held for has begun a run.
    assert.equal(await durable.pending(id), 2);
    const [back, new_] = await durable.waiting(id);
    assert.deepEqual([back?.id, back?.returns, new_?.returns], ["b", 1, undefined]);
    const next = await durable.takeEpoch(id);
    const fenced = await errorOf(end("r", ["a"]));
    assert.equal(isSessionFenced(fenced), true);
    assert.deepEqual(ids(await durable.drain(id, next, { runId: "q", name: "0" })), ["b", "c"]);
  });
});

describe("the beginning of a run", { skip }, () => {
  const start = (runId: string): DurableItem => ({
    key: `${runId}:start`,
    body: { type: "run_start", runId },
  });

  it("takes its messages and is stored, or nothing of both", async () => {
    const { durable, store, id } = await engine();
    const epoch = await durable.takeEpoch(id);
    const begin = (runId: string, messageId?: string, at = epoch) =>
      durable.begin(id, at, { runId, messageId, name: "start", by: "i", items: [start(runId)] });
    assert.deepEqual(await begin("idle"), { state: "idle" });
    await durable.push(id, { id: "m", queue: "start", message: user("m"), runId: "m" });
    await durable.push(id, { id: "f", queue: "followUp", message: user("f") });
    const broken = { key: "m:start", body: { type: "no such" } } as unknown as DurableItem;
    const about = { runId: "m", messageId: "m", name: "start", by: "i", items: [broken] };
    assert.equal((await errorOf(durable.begin(id, epoch, about))).code, "invalid_argument");
    assert.deepEqual(await durable.findMessage(id, "m"), { state: "pending", runId: "m" });
    assert.equal(await durable.pending(id), 1);
    const begun = await begin("m", "m");
    assert.equal(begun.state, "begun");
    assert.deepEqual(await begin("m", "m"), begun);
    assert.deepEqual(
      (await durable.openRuns({ sessionId: id })).map(({ runId, state }) => [runId, state]),
      [["m", "running"]],
    );
    assert.deepEqual(begun.state === "begun" && begun.taken.map((one) => one.id), ["f"]);
    assert.deepEqual(await begin("later", "m"), { state: "taken", runId: "m" });
    assert.equal((await readAll(store, id)).length, 1);
    // A message of a session that was deleted.
    assert.deepEqual(await begin("ghost", "unknown"), { state: "cancelled", runId: "ghost" });
    assert.equal(await durable.findMessage(id, "unknown"), undefined);
    assert.equal((await readAll(store, id)).length, 1);
    await durable.takeEpoch(id);
    assert.equal(isSessionFenced(await errorOf(begin("zombie", "z"))), true);
    assert.equal(await durable.findMessage(id, "z"), undefined);
  });
});

describe("a second invocation for a message", { skip }, () => {
  /** A message, and what begins its run for an invocation. */
  async function pushed() {
    const made = await engine();
    const { durable, id } = made;
    const epoch = await durable.takeEpoch(id);
    await durable.push(id, { id: "m", queue: "start", message: user("m"), runId: "r" });
    const begin = (by: string) =>
      durable.begin(id, epoch, {
        runId: "r",
        messageId: "m",
        name: "start",
        by,
        items: [{ key: "start", body: { type: "run_start", runId: "r" } }],
      });
    return { ...made, epoch, begin };
  }

  it("does not begin its run again, whether it goes on or has ended", async () => {
    const { durable, store, id, epoch, begin } = await pushed();
    const begun = await begin("first\0");
    await durable.push(id, { id: "f", queue: "followUp", message: user("f") });
    const taken = { state: "taken", runId: "r" };
    assert.deepEqual(await begin("second"), taken);
    // An attempt that died before the engine heard of the beginning.
    assert.deepEqual(await begin("first\0"), begun);
    await durable.append(id, epoch, [
      { key: "end", body: { type: "run_end", runId: "r", reason: "done" } },
    ]);
    assert.deepEqual(await begin("second"), taken);
    assert.deepEqual(await durable.findMessage(id, "f"), { state: "pending" });
    assert.equal((await readAll(store, id)).length, 2);
    assert.equal((await errorOf(begin(""))).code, "invalid_argument");
  });

  it("leaves the message to the next run if the first invocation's run was given up", async () => {
    const { durable, id, epoch, begin } = await pushed();
    await begin("first");
    const body = { type: "run_end", runId: "r", reason: "interrupted" } as const;
    await durable.append(id, epoch, [{ key: "end", body }]);
    const waiting = await durable.waiting(id);
    assert.deepEqual(
      waiting.map(({ id: name, isHeld }) => [name, isHeld]),
      [["m", true]],
    );
    assert.deepEqual(await begin("second"), { state: "taken", runId: "r" });
    assert.deepEqual(await durable.waiting(id), waiting);
  });
});

describe("the end of a run", { skip }, () => {
  it("is stored with the messages that it leaves, or nothing of both", async () => {
    const { durable, store, id } = await engine();
    const epoch = await durable.takeEpoch(id);
    await durable.push(id, { id: "left", queue: "followUp", message: user("left") });
    await durable.drain(id, epoch, { runId: "r", name: "1" });
    const end = (type: string): Promise<void> => {
      const body = { type, runId: "r", reason: "error" } as unknown as DurableItem["body"];
      const items = [{ key: "r:end", body }];
      return durable.end(id, epoch, { runId: "r", items, left: ["left"], isHolding: true });
    };
    assert.equal((await errorOf(end("no such"))).code, "invalid_argument");
    assert.deepEqual(await durable.findMessage(id, "left"), { state: "taken", runId: "r" });
    await end("run_end");
    await durable.push(id, { id: "later", queue: "followUp", message: user("later") });
    await end("run_end");
    const [left, later] = await durable.waiting(id);
    assert.deepEqual([left?.id, left?.isHeld, left?.returns], ["left", true, 1]);
    assert.deepEqual([later?.id, later?.isHeld], ["later", undefined]);
    assert.equal((await readAll(store, id)).length, 1);
  });
});

describe("a new beginning", { skip }, () => {
  it("follows nothing, and waits for the end of a run", async () => {
    const { durable, store, id } = await engine();
    const epoch = await durable.takeEpoch(id);
    const title = (key: string): DurableItem => ({ key, body: { type: "title", title: key } });
    await durable.append(id, epoch, [{ key: "s", body: { type: "run_start", runId: "r" } }]);
    assert.equal(await durable.rewind(id, [title("a"), title("b")]), false);
    assert.equal((await readAll(store, id)).length, 1);
    const end = { type: "run_end", runId: "r", reason: "done" } as const;
    await durable.append(id, epoch, [{ key: "e", body: end }]);
    assert.equal(await durable.rewind(id, [title("a"), title("b")]), true);
    assert.equal(await durable.rewind(id, [title("a"), title("b")]), true);
    assert.deepEqual(
      (await readAll(store, id)).map((one) => [one.id, one.parentId]),
      [
        ["s", null],
        ["e", "s"],
        ["a", null],
        ["b", "a"],
      ],
    );
    assert.equal((await errorOf(durable.rewind(id, []))).code, "invalid_argument");
  });
});

describe("a run that its engine gave up", { skip }, () => {
  const start = (runId: string): DurableItem => ({
    key: `${runId}:start`,
    body: { type: "run_start", runId },
  });
  const shown = (runId: string, id: string): DurableItem => ({
    key: `${runId}:${id}`,
    body: { type: "message", runId, message: user(id) },
    messageId: id,
  });
  const gaveUp = (runId: string): DurableItem => ({
    key: `${runId}:closed`,
    body: { type: "run_end", runId, reason: "interrupted" },
  });
  const rows = (all: readonly { id: string; queue: string; isHeld?: true }[]): unknown[] =>
    all.map(({ id, queue, isHeld }) => [id, queue, isHeld === true]);

  /** A run with its message and two follow-ups, of which it has shown some to the model. */
  async function begun(...read: string[]) {
    const made = await engine();
    const { durable, id } = made;
    const epoch = await durable.takeEpoch(id);
    await durable.push(id, { id: "f", queue: "followUp", message: user("f") });
    await durable.push(id, { id: "m", queue: "start", message: user("m"), runId: "r" });
    await durable.begin(id, epoch, {
      runId: "r",
      messageId: "m",
      name: "start",
      by: "i",
      items: [start("r")],
    });
    await durable.push(id, { id: "g", queue: "steering", message: user("g") });
    await durable.drain(id, epoch, { runId: "r", name: "1" });
    if (read.length > 0)
      await durable.append(
        id,
        epoch,
        read.map((one) => shown("r", one)),
      );
    return { ...made, epoch };
  }

  it("leaves each message that no entry has, held and in its place", async () => {
    const { durable, id, epoch } = await begun("m", "g");
    const taken = await durable.waiting(id, { isTaken: true });
    assert.deepEqual(rows(taken), [["f", "followUp", false]]);
    await durable.push(id, { id: "later", queue: "followUp", message: user("later") });
    await durable.append(id, epoch, [gaveUp("r")]);
    assert.deepEqual(rows(await durable.waiting(id)), [
      ["f", "followUp", true],
      ["later", "followUp", false],
    ]);
    assert.deepEqual(await durable.findMessage(id, "m"), { state: "taken", runId: "r" });
    assert.equal(await durable.pending(id), 1);
    await durable.append(id, epoch, [gaveUp("r")]);
    assert.equal((await durable.waiting(id))[0]?.returns, 1);
  });

  it("leaves the message that began it for the next message", async () => {
    const { durable, id, epoch } = await begun();
    assert.deepEqual(rows(await durable.waiting(id, { isTaken: true })), [
      ["m", "start", false],
      ["g", "steering", false],
      ["f", "followUp", false],
    ]);
    assert.deepEqual(await durable.waiting(id), []);
    await durable.append(id, epoch, [gaveUp("r")]);
    const held = await durable.waiting(id);
    assert.deepEqual(rows(held), [
      ["g", "steering", true],
      ["f", "followUp", true],
      ["m", "followUp", true],
    ]);
    assert.deepEqual(await durable.findMessage(id, "m"), { state: "pending" });
    assert.deepEqual(await durable.openRuns({ sessionId: id }), []);
    const taken = await durable.drain(id, epoch, { runId: "s", name: "0" });
    assert.deepEqual(
      taken.map((one) => [one.id, one.isHeld]),
      [
        ["f", true],
        ["m", true],
        ["g", true],
      ],
    );
  });

  it("leaves its messages to the next run that begins, also if that run ends it", async () => {
    for (const items of [[gaveUp("r"), start("s")], [start("s")]]) {
      const { durable, id } = await begun("f");
      const epoch = await durable.takeEpoch(id);
      await durable.push(id, { id: "n", queue: "start", message: user("n"), runId: "s" });
      const next = await durable.begin(id, epoch, {
        runId: "s",
        messageId: "n",
        name: "start",
        by: "i",
        items,
      });
      const isEnding = items.length === 2;
      assert.deepEqual(
        next.state === "begun" && next.taken.map((one) => [one.id, one.isHeld]),
        isEnding
          ? [
              ["m", true],
              ["g", true],
            ]
          : [],
      );
      const waiting = await durable.waiting(id);
      assert.deepEqual(
        waiting.map((one) => one.id),
        isEnding ? [] : ["g", "m"],
      );
    }
  });

  it("leaves no message that was given to it without its content", async () => {
    const { durable, id } = await engine();
    const epoch = await durable.takeEpoch(id);
    await durable.claimRun(id, "m", "r");
    await durable.append(id, epoch, [start("r"), gaveUp("r")]);
    assert.deepEqual(await durable.waiting(id), []);
    assert.deepEqual(await durable.findMessage(id, "m"), { state: "taken", runId: "r" });
  });
});

describe("deleteSessions", { skip }, () => {
  it("deletes all sessions of a user, also open ones, and tells an engine first", async () => {
    const store = rig.open({ schema: "users" });
    const metadata = { user: { id: "ada\0" }, more: 1 };
    for (const id of ["a1", "a2", "a3"])
      await (await store.create({ id, createdAt: 1, metadata }, [entry(0)])).close();
    await (
      await store.create({ id: "b", createdAt: 1, metadata: { user: { id: "bob" } } })
    ).close();
    const writer = await rig.open({ schema: "users" }).open("a2");
    const epoch = await store.durable.takeEpoch("a3");
    const purged: string[] = [];
    const result = await store.deleteSessions(
      { user: { id: "ada\0" } },
      {
        async beforeDelete(id) {
          purged.push(id);
          if (id === "a1") throw new Error("the engine is away");
          if (id === "a3")
            assert.ok(
              isSessionFenced(await errorOf(store.durable.append("a3", epoch, [said("k")]))),
            );
        },
      },
    );
    assert.deepEqual(purged, ["a1", "a2", "a3"]);
    assert.deepEqual(result.deleted, ["a2", "a3"]);
    assert.deepEqual(
      result.failed.map(({ id, error }) => [id, isBowlineError(error) && error.code]),
      [["a1", "hook_failed"]],
    );
    assert.equal((await errorOf(writer.append([entry(1)]))).code, "not_found");
    assert.deepEqual(
      (await store.list()).sessions.map(({ id }) => id),
      ["a1", "b"],
    );
    assert.equal(await rig.server.sql("select count(*) from users.entries", "test_1"), "1");
    assert.equal((await errorOf(store.deleteSessions({}))).code, "invalid_argument");
    assert.deepEqual((await store.deleteSessions({ user: { id: "ada\0" } })).deleted, ["a1"]);
    await writer.close();
  });
});
