/** Messages that begin runs, and the tables of runs and approvals, whoever writes the entries. */
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import pg from "pg";
import { openSession, type AnyEntry, type EntryBody } from "@bowline/core/session";
import type { DurableItem, PostgresStore, StartInput } from "../src/index.ts";
import { migrate } from "../src/schema/migrate.ts";
import { migrations } from "../src/schema/migrations.ts";
import { Database } from "../src/sql/database.ts";
import { entry, errorOf, skip, startRig } from "./support.ts";

const rig = await startRig();
let count = 0;

async function newSession(store: PostgresStore): Promise<string> {
  const id = `s${++count}`;
  await store.durable.ensure({ id, createdAt: 1 });
  return id;
}

const said = { role: "user", content: "hello", timestamp: 1 } as const;
const started = (id: string, more: Partial<StartInput> = {}): StartInput => ({
  id,
  queue: "start",
  message: said,
  runId: `run of ${id}`,
  ...more,
});
const item = (key: string, body: EntryBody, timestamp = 5): DurableItem => ({
  key,
  body,
  timestamp,
});
const begins = (runId: string): EntryBody => ({ type: "run_start", runId });
const ends = (runId: string): EntryBody => ({ type: "run_end", runId, reason: "done" });
const asks = (approvalId: string, more: object = {}): EntryBody => ({
  type: "approval_request",
  approvalId,
  toolCallId: "c",
  toolName: "t",
  args: {},
  ...more,
});

describe("a message that begins a run", { skip }, () => {
  const store = skip === false ? rig.open() : (undefined as never);

  it("waits until its run claims it, and is in no drain", async () => {
    const { durable } = store;
    const id = await newSession(store);
    const epoch = await durable.takeEpoch(id);
    const more = { agent: "coder", metadata: { workspace: "/w\0" }, owner: "ada" };
    const place = { state: "pending", runId: "run of m" } as const;
    assert.deepEqual(await durable.push(id, started("m", more)), place);
    // The first run counts, so that a client may send it again with another id for the run.
    assert.deepEqual(await durable.push(id, started("m", { runId: "other" })), place);
    assert.deepEqual(await durable.findMessage(id, "m"), place);
    assert.equal(await durable.pending(id), 0);
    assert.deepEqual(await durable.drain(id, epoch, { runId: "r", name: "0" }), []);
    const [waiting, ...others] = await durable.waiting(id);
    const { at, ...rest } = waiting ?? { at: 0 };
    assert.ok(Math.abs(Date.now() - at) < 60_000);
    const { agent, metadata } = more;
    const stored = { id: "m", queue: "start", message: said, runId: "run of m", agent, metadata };
    assert.deepEqual([rest, others], [stored, []]);
    const open = { sessionId: id, runId: "run of m", at };
    assert.deepEqual(await durable.openRuns({ sessionId: id }), [{ ...open, state: "queued" }]);
    const taken = { state: "taken", runId: "run of m" } as const;
    assert.deepEqual(await durable.claimRun(id, "m", "run of m"), taken);
    assert.deepEqual(await durable.claimRun(id, "m", "later"), taken);
    assert.deepEqual(await durable.waiting(id), []);
    assert.deepEqual(await durable.push(id, started("m")), taken);
    await durable.append(id, epoch, [item("start", begins("run of m"), 7)]);
    const running = [{ ...open, state: "running", at: 7 }];
    assert.deepEqual(await durable.openRuns({ owner: "ada" }), running);
    assert.deepEqual(await durable.openRuns({ owner: "bob" }), []);
    await durable.append(id, epoch, [item("end", ends("run of m"))]);
    assert.deepEqual(await durable.openRuns({ sessionId: id }), []);
    const found = [{ sessionId: id, state: "ended", reason: "done" }];
    assert.deepEqual(await durable.findRun("run of m"), found);
  });

  it("that is cancelled never runs, also if it is sent again", async () => {
    const { durable } = store;
    const id = await newSession(store);
    const long = "l".repeat(512);
    const longRun = "\uD800".repeat(256);
    await durable.push(id, { id: "f", queue: "followUp", message: said });
    for (const one of ["a", "b"]) await durable.push(id, started(one, { runId: one }));
    await durable.push(id, started(long, { runId: longRun }));
    await durable.push(id, { id: "s", queue: "steering", message: said });
    assert.deepEqual(
      (await durable.waiting(id)).map((message) => message.id),
      ["s", "f", "a", "b", long],
    );
    assert.deepEqual(await durable.cancel(id, ["b", "unknown"]), [
      { id: "b", queue: "start", runId: "b" },
    ]);
    const cancelled = { state: "cancelled", runId: "b" } as const;
    assert.deepEqual(await durable.claimRun(id, "b", "b"), cancelled);
    assert.deepEqual(await durable.claimRun(id, "b", "other"), cancelled);
    assert.deepEqual(await durable.findMessage(id, "b"), cancelled);
    assert.deepEqual(await durable.push(id, started("b", { runId: "b" })), cancelled);
    // Another message cannot bring its run back.
    assert.deepEqual(await durable.push(id, started("c", { runId: "b" })), cancelled);
    assert.deepEqual((await durable.findRun("b"))[0], {
      sessionId: id,
      state: "ended",
      reason: "cancelled",
    });
    assert.deepEqual(await durable.cancel(id), [
      { id: "s", queue: "steering" },
      { id: "f", queue: "followUp" },
      { id: "a", queue: "start", runId: "a" },
      { id: long, queue: "start", runId: longRun },
    ]);
    assert.deepEqual(await durable.waiting(id), []);
    assert.deepEqual(await durable.cancel(id), []);
    assert.deepEqual(await durable.openRuns({ sessionId: id }), []);
    assert.equal(await durable.findMessage(id, "s"), undefined);
  });

  it("cannot be cancelled once a run has it", async () => {
    const { durable } = store;
    const id = await newSession(store);
    await durable.push(id, started("m"));
    await durable.claimRun(id, "m", "run of m");
    assert.deepEqual(await durable.cancel(id), []);
    assert.equal((await durable.findMessage(id, "m"))?.state, "taken");
    assert.equal((await durable.openRuns({ sessionId: id }))[0]?.state, "queued");
  });

  it("counts as taken by a run of its id that the session has had", async () => {
    const { durable } = store;
    const id = await newSession(store);
    const epoch = await durable.takeEpoch(id);
    await durable.append(id, epoch, [item("s", begins("r")), item("e", ends("r"))]);
    const place = { state: "taken", runId: "r" } as const;
    assert.deepEqual(await durable.push(id, started("m", { runId: "r" })), place);
    assert.deepEqual(await durable.waiting(id), []);
    await durable.push(id, started("n"));
    const error = await errorOf(durable.push(id, started("o", { runId: "run of n" })));
    assert.equal(error.code, "invalid_argument");
    assert.match(error.message, /Another message is to begin the run "run of n"/);
  });

  it("gives its row to a run that claims it under another id", async () => {
    const { durable } = store;
    const id = await newSession(store);
    await durable.push(id, started("renamed", { owner: "eve" }));
    await durable.claimRun(id, "renamed", "another");
    assert.deepEqual(
      (await durable.openRuns({ owner: "eve" })).map(({ runId }) => runId),
      ["another"],
    );
    assert.deepEqual(await durable.findRun("run of renamed"), []);
  });

  it("is refused when its owner has as many open runs, over all sessions and at once", async () => {
    const id = await newSession(store);
    const stores = [store, rig.open(), rig.open()];
    const all = await Promise.allSettled(
      Array.from({ length: 12 }, async (_, n) => {
        const { durable } = stores[n % 3] as PostgresStore;
        const session = await newSession(store);
        return durable.push(session, started(`m${n}`, { owner: "zoe\0", maxOwned: 3 }));
      }),
    );
    assert.equal(all.filter(({ status }) => status === "fulfilled").length, 3);
    const [refused] = all.filter((one) => one.status === "rejected");
    const error = refused?.reason as Awaited<ReturnType<typeof errorOf>>;
    assert.deepEqual([error.code, error.retryable], ["rate_limited", true]);
    assert.match(error.message, /3 runs are queued or running for this user, and 3 may be/);
    // A message that is known is no new run.
    const [open] = await store.durable.openRuns({ owner: "zoe\0" });
    const again = started(open?.runId.slice("run of ".length) ?? "", {
      owner: "zoe\0",
      maxOwned: 3,
    });
    assert.equal((await store.durable.push(open?.sessionId ?? "", again)).state, "pending");
    await store.durable.cancel(open?.sessionId ?? "");
    const next = started("next", { owner: "zoe\0", maxOwned: 3 });
    assert.equal((await store.durable.push(id, next)).state, "pending");
  });

  it("is listed for whoever tells the engine again, oldest first over all sessions", async () => {
    let now = 1000;
    const clock = { now: () => now, setTimer: () => () => {} };
    const own = rig.open({ schema: "sweep", clock });
    const { durable } = own;
    const ids = [await newSession(own), await newSession(own)] as const;
    await durable.push(ids[1], started("a", { metadata: { x: 1 } }));
    now = 2000;
    await durable.push(ids[0], { id: "b", queue: "steering", message: said, agent: "coder" });
    now = 3000;
    await durable.push(ids[0], started("c"));
    const listed = await durable.waitingSince(3000, 10);
    assert.deepEqual(
      listed.map((one) => ({ ...one, position: typeof one.position })),
      [
        {
          sessionId: ids[1],
          id: "a",
          queue: "start",
          message: said,
          at: 1000,
          runId: "run of a",
          metadata: { x: 1 },
          position: "string",
        },
        {
          sessionId: ids[0],
          id: "b",
          queue: "steering",
          message: said,
          at: 2000,
          agent: "coder",
          position: "string",
        },
      ],
    );
    // In pages, so that messages that wait for long do not hide later ones.
    const pages: string[] = [];
    for (let position: string | undefined; ;) {
      const [one] = await durable.waitingSince(9000, 1, position);
      if (one === undefined) break;
      pages.push(one.id);
      ({ position } = one);
    }
    assert.deepEqual(pages, ["a", "b", "c"]);
    assert.equal((await errorOf(durable.waitingSince(1, 1, "x 1"))).code, "invalid_argument");
    assert.deepEqual(await durable.countRuns(), { queued: 2, running: 0 });
    await durable.claimRun(ids[1], "a", "run of a");
    await durable.cancel(ids[0]);
    assert.deepEqual(await durable.waitingSince(9000, 10), []);
    assert.deepEqual(await durable.countRuns(), { queued: 1, running: 0 });
  });

  it("waits for another message once it is held, and begins no run", async () => {
    const { durable } = store;
    const id = await newSession(store);
    await durable.push(id, { id: "left", queue: "steering", message: said });
    await durable.push(id, started("next"));
    assert.equal(await durable.pending(id), 1);
    const epoch = await durable.takeEpoch(id);
    await durable.end(id, epoch, { runId: "x", items: [], left: [], isHolding: true });
    assert.equal(await durable.pending(id), 0);
    const waiting = await durable.waiting(id);
    assert.deepEqual(
      waiting.map((one) => [one.id, one.isHeld]),
      [
        ["left", true],
        ["next", undefined],
      ],
    );
    const all = await durable.waitingSince(Infinity, 10_000);
    const own = all.filter(({ sessionId }) => sessionId === id);
    assert.deepEqual(
      own.map((one) => one.id),
      ["next"],
    );
    await durable.push(id, { id: "later", queue: "steering", message: said });
    const taken = await durable.drain(id, epoch, { runId: "r", name: "start" });
    assert.deepEqual(
      taken.map((one) => [one.id, one.isHeld]),
      [
        ["left", true],
        ["later", undefined],
      ],
    );
  });

  it("is refused with wrong fields", async () => {
    const { durable } = store;
    const id = await newSession(store);
    for (const wrong of [
      { queue: "other" },
      { runId: "" },
      { runId: "x".repeat(257) },
      { agent: "" },
      { owner: "" },
      { metadata: [] },
      { metadata: { x: "y".repeat(16 * 1024) } },
      { maxOwned: 3 },
      { maxOwned: Number.NaN, owner: "ada" },
      { other: 1 },
    ]) {
      const input = { ...started("m"), ...wrong } as StartInput;
      assert.equal(
        (await errorOf(durable.push(id, input))).code,
        "invalid_argument",
        Object.keys(wrong).join(),
      );
    }
    for (const limit of [0, 10_001, 1.5]) {
      for (const refused of [
        () => durable.waitingSince(1, limit),
        () => durable.openRuns({ limit }),
        () => durable.answeredSince(1, limit),
        () => durable.runningSince(1, limit),
        () => durable.openApprovals({ limit }),
      ])
        assert.equal((await errorOf(refused())).code, "invalid_argument");
    }
    assert.deepEqual(await durable.waiting(id), []);
  });
});

describe("runs and approvals", { skip }, () => {
  const store = skip === false ? rig.open() : (undefined as never);
  const openIn = async (sessionId: string): Promise<unknown> => [
    (await store.durable.openRuns({ sessionId })).map(({ runId, state }) => `${runId} ${state}`),
    (await store.durable.openApprovals({ sessionId })).map(
      ({ runId, approvalId }) => `${runId} ${approvalId}`,
    ),
  ];

  it("are those of the entries, whether a writer or an engine writes them", async () => {
    const bodies: [EntryBody, readonly string[], readonly string[]][] = [
      [asks("too early"), [], []],
      [begins("1"), ["1 running"], []],
      [{ type: "run_start", runId: "nested", parentRunId: "1" }, ["1 running"], []],
      [asks("q1"), ["1 running"], ["1 q1"]],
      [asks("q2"), ["1 running"], ["1 q1", "1 q2"]],
      [{ type: "approval_answer", approvalId: "q1", decision: "allow" }, ["1 running"], ["1 q2"]],
      [ends("nested"), ["1 running"], ["1 q2"]],
      [{ type: "reopen", runId: "1" }, ["1 running"], ["1 q2"]],
      [ends("1"), [], []],
      [begins("2"), ["2 running"], []],
      [asks("q3"), ["2 running"], ["2 q3"]],
      // The process of the run died, and its session was rewound.
      [begins("3"), ["3 running"], []],
      [asks("q3"), ["3 running"], ["3 q3"]],
      [{ type: "reopen", runId: "2" }, ["2 running"], []],
      [ends("2"), [], []],
    ];
    const durableId = await newSession(store);
    const epoch = await store.durable.takeEpoch(durableId);
    const writer = await store.create({ id: `s${++count}`, createdAt: 1 });
    for (const [seq, [body, runs, approvals]] of bodies.entries()) {
      await store.durable.append(durableId, epoch, [item(`k${seq}`, body)]);
      await writer.append([entry(seq, body)]);
      for (const id of [durableId, writer.header.id])
        assert.deepEqual(await openIn(id), [runs, approvals], `${body.type} ${seq}`);
    }
    await writer.close();
    // All at once: in a batch, and in a new session.
    const batch = bodies.map(([body], seq) => entry(seq, body));
    const other = await store.create({ id: `s${++count}`, createdAt: 1 }, batch.slice(0, 11));
    assert.deepEqual(await openIn(other.header.id), [["2 running"], ["2 q3"]]);
    await Promise.all([
      other.append(batch.slice(11, 12)),
      other.append(batch.slice(12, 13)),
      other.append(batch.slice(13)),
    ]);
    assert.deepEqual(await openIn(other.header.id), [[], []]);
    await other.close();
    assert.equal((await store.durable.findRun("1")).length, 2);
    assert.deepEqual(
      (await store.durable.findRun("3")).map(({ state, reason }) => [state, reason]),
      [
        ["ended", "interrupted"],
        ["ended", "interrupted"],
      ],
    );
    assert.deepEqual(await store.durable.findRun("nested"), []);
  });

  it("are not changed by a writer that is refused", async () => {
    const { durable } = store;
    const id = await newSession(store);
    const writer = await store.open(id);
    const old = await durable.takeEpoch(id);
    const epoch = await durable.takeEpoch(id);
    assert.equal((await errorOf(writer.append([entry(0, begins("w"))]))).code, "session_locked");
    const late = durable.append(id, old, [item("k", begins("o"))]);
    assert.equal((await errorOf(late)).code, "session_locked");
    assert.deepEqual(await openIn(id), [[], []]);
    await durable.append(id, epoch, [item("k", begins("own"))]);
    await durable.append(id, epoch, [item("end", ends("own"))]);
    // A repeated append begins nothing again.
    await durable.append(id, epoch, [item("k", begins("own"))]);
    assert.deepEqual(await openIn(id), [[], []]);
    await writer.close();
  });

  it("are written with their entries, or neither is", async () => {
    const own = rig.open({ schema: "together" });
    const id = await newSession(own);
    const writer = await own.open(id);
    await rig.server.sql(
      "alter table together.runs add constraint no check (run_id <> 'refused')",
      "test_1",
    );
    assert.equal(
      (await errorOf(writer.append([entry(0, begins("refused"))]))).code,
      "storage_failed",
    );
    const batches: AnyEntry[] = [];
    for await (const batch of own.read(id)) batches.push(...batch);
    assert.deepEqual([batches, writer.nextSeq], [[], 0]);
    await writer.append([entry(0, begins("other"))]);
    assert.equal((await own.durable.openRuns()).length, 1);
    await writer.close();
  });

  it("are found by their ids, with the request", async () => {
    const { durable } = store;
    const id = await newSession(store);
    const epoch = await durable.takeEpoch(id);
    const long = `\\\0${"x".repeat(600)}`;
    const large = { args: { text: "y".repeat(40_000) }, expiresAt: 77 };
    await durable.append(id, epoch, [item("s", begins(long)), item("q", asks(long, large))]);
    const [open, ...others] = await durable.openApprovals({ beginning: id });
    assert.deepEqual(others, []);
    assert.deepEqual(
      { ...open, request: undefined },
      { sessionId: id, approvalId: long, runId: long, seq: 1, expiresAt: 77, request: undefined },
    );
    assert.deepEqual(open?.request.args, large.args);
    assert.deepEqual(await durable.findApproval(long), [{ sessionId: id, isOpen: true }]);
    assert.deepEqual(await durable.findRun(long), [{ sessionId: id, state: "running" }]);
    assert.deepEqual(await durable.openApprovals({ beginning: `${id}x` }), []);
    await durable.append(id, epoch, [
      item("a", { type: "approval_answer", approvalId: long, decision: "deny" }),
    ]);
    assert.deepEqual(await durable.findApproval(long), [{ sessionId: id, isOpen: false }]);
    assert.deepEqual(await durable.findApproval("unknown"), []);
    assert.equal((await durable.openRuns({ limit: 1 })).length, 1);
  });

  it("keep the first answer, which the run finds, until its time limit", async () => {
    let now = 100;
    const clock = { now: () => now, setTimer: () => () => {} };
    const own = rig.open({ schema: "answers", clock });
    const { durable } = own;
    const id = await newSession(own);
    const epoch = await durable.takeEpoch(id);
    const long = "\uD800".repeat(600);
    await durable.append(id, epoch, [
      item("s", begins("r")),
      item("1", asks(long, { expiresAt: 200 })),
      item("2", asks("limited", { expiresAt: 200 })),
      item("3", asks("unlimited")),
    ]);
    const allow = { decision: "allow", by: "ada\0", remember: "session" } as const;
    const stored = { state: "stored", answer: { ...allow, at: 200 } } as const;
    now = 200;
    assert.equal(await durable.findAnswer(id, long), undefined);
    assert.deepEqual(await durable.answer(id, long, allow), stored);
    now = 300;
    assert.deepEqual(await durable.answer(id, long, { decision: "deny" }), stored);
    assert.deepEqual(await durable.findAnswer(id, long, { isClosing: true }), stored.answer);
    assert.deepEqual(await durable.answer(id, "limited", allow), { state: "late" });
    assert.deepEqual(await durable.answer(id, "nobody asked", allow), { state: "unknown" });
    const open = await durable.openApprovals({ sessionId: id });
    assert.deepEqual(
      open.map(({ approvalId }) => approvalId),
      ["limited", "unlimited"],
    );
    // The run has given the question up: no answer counts from then on.
    assert.equal(await durable.findAnswer(id, "unlimited", { isClosing: true }), undefined);
    assert.deepEqual(await durable.answer(id, "unlimited", allow), { state: "closed" });
    assert.deepEqual(await durable.findApproval("unlimited"), [{ sessionId: id, isOpen: false }]);
    const [undelivered, ...others] = await durable.answeredSince(301, 10);
    assert.deepEqual(
      { ...undelivered, position: "" },
      { sessionId: id, approvalId: long, answer: stored.answer, position: "" },
    );
    assert.deepEqual(others, []);
    assert.deepEqual(await durable.answeredSince(301, 10, undelivered?.position), []);
    assert.deepEqual(await durable.answeredSince(200, 10), []);
    await durable.append(id, epoch, [
      item("4", { type: "approval_answer", approvalId: long, decision: "allow" }),
    ]);
    assert.deepEqual(await durable.answeredSince(301, 10), []);
    assert.deepEqual(await durable.answer(id, long, allow), stored);
    // Another question, under the same id.
    await durable.append(id, epoch, [item("5", asks(long))]);
    assert.equal(await durable.findAnswer(id, long), undefined);
    await durable.append(id, epoch, [item("6", ends("r"))]);
    assert.deepEqual(await durable.answer(id, long, allow), { state: "closed" });
    for (const wrong of [
      { decision: "maybe" },
      { decision: "deny", reason: 1 },
      { decision: "deny", by: null },
      { decision: "allow", remember: "ever" },
      { decision: "allow", at: 1 },
    ])
      assert.equal(
        (await errorOf(durable.answer(id, long, wrong as never))).code,
        "invalid_argument",
        JSON.stringify(wrong),
      );
    assert.equal((await errorOf(durable.answeredSince(1, 1, "1 2"))).code, "invalid_argument");
  });

  it("that go on are listed page by page, those that began first before the others", async () => {
    const own = rig.open({ schema: "running" });
    const { durable } = own;
    const begin = async (id: string, at: number): Promise<number> => {
      await durable.ensure({ id, createdAt: 1 });
      const epoch = await durable.takeEpoch(id);
      await durable.push(id, started(`queued in ${id}`));
      await durable.append(id, epoch, [item("s", begins(`run of ${id}`), at)]);
      return epoch;
    };
    await begin("b", 20);
    const epoch = await begin("a\0", 10);
    await begin("c", 20);
    await begin("d", 30);
    const listed = async (limit: number, from?: string) =>
      (await durable.runningSince(30, limit, from)).map((run) => ({ ...run, position: "" }));
    const run = (id: string, at: number) =>
      ({ sessionId: id, runId: `run of ${id}`, state: "running", at, position: "" }) as const;
    const [first, second] = await durable.runningSince(30, 2);
    assert.deepEqual(await listed(2), [run("a\0", 10), run("b", 20)]);
    assert.deepEqual(await listed(9, first?.position), [run("b", 20), run("c", 20)]);
    assert.deepEqual(await listed(9, second?.position), [run("c", 20)]);
    await durable.append("a\0", epoch, [item("e", ends("run of a\0"))]);
    assert.deepEqual(await listed(9), [run("b", 20), run("c", 20)]);
    assert.equal((await errorOf(durable.runningSince(1, 1, "x"))).code, "invalid_argument");
  });

  it("of a fork are its own, not those that it copied", async () => {
    const id = await newSession(store);
    const { durable } = store;
    const epoch = await durable.takeEpoch(id);
    const more = [item("s", begins("copied")), item("q", asks("copied question"))];
    await durable.append(id, epoch, more);
    const session = await openSession(store, id, { readOnly: true });
    const fork = await session.fork({ id: `s${++count}` });
    assert.deepEqual(await openIn(fork.id), [[], []]);
    await fork.append(begins("of the fork"));
    assert.deepEqual(await openIn(fork.id), [["of the fork running"], []]);
    assert.deepEqual(await durable.findRun("copied"), [{ sessionId: id, state: "running" }]);
    assert.equal((await durable.findApproval("copied question")).length, 1);
    await fork.close();
    // As an import writes it: the copies and what followed.
    const all: AnyEntry[] = [];
    for await (const batch of store.read(fork.id)) all.push(...batch);
    const header = { ...(await store.load(fork.id)), id: `s${++count}` };
    await (await store.create(header, all)).close();
    assert.deepEqual(await openIn(header.id), [["of the fork running"], []]);
    assert.equal((await durable.findRun("of the fork")).length, 2);
    await store.delete(fork.id);
    assert.equal((await durable.findRun("of the fork")).length, 1);
  });

  it("are deleted with their session", async () => {
    const { durable } = store;
    const id = await newSession(store);
    const epoch = await durable.takeEpoch(id);
    await durable.push(id, started("m", { runId: "waiting and deleted" }));
    await durable.append(id, epoch, [
      item("s", begins("deleted")),
      item("q", asks("deleted question")),
    ]);
    await store.delete(id);
    assert.deepEqual(await durable.findRun("deleted"), []);
    assert.deepEqual(await durable.findRun("waiting and deleted"), []);
    assert.deepEqual(await durable.findApproval("deleted question"), []);
    for (const refused of [
      () => durable.waiting(id),
      () => durable.cancel(id),
      () => durable.push(id, started("m")),
    ])
      assert.equal((await errorOf(refused())).code, "not_found");
  });
});

describe("the upgrade of tables without runs", { skip }, () => {
  const pool = skip === false ? new pg.Pool({ connectionString: rig.url }) : (undefined as never);
  after(() => pool?.end());

  it("fills them from the entries that exist", async () => {
    const schema = "upgrade_1";
    const store = rig.open({ schema });
    const runs = [begins("1"), asks("q1"), ends("1"), begins("2\0"), asks("q2\0")];
    const large = { args: { text: "z".repeat(40_000) } };
    await (
      await store.create(
        { id: "a", createdAt: 1 },
        [...runs, asks("large", large)].map((body, seq) => entry(seq, body)),
      )
    ).close();
    const session = await openSession(store, "a");
    const fork = await session.fork({ id: "fork" });
    await fork.append(begins("of the fork"));
    await fork.close();
    await session.close();
    await store.durable.ensure({ id: "empty", createdAt: 1 });
    // A message that a running run has.
    const epoch = await store.durable.takeEpoch("a");
    await store.durable.push("a", { id: "taken", queue: "steering", message: said });
    await store.durable.drain("a", epoch, { runId: "2\0", name: "1" });
    const all = async (): Promise<unknown> => {
      const { rows } = await pool.query(
        `select s.id, r.run_id, r.state, r.reason, a.key, a.seq, a.is_open
        from ${schema}.runs r join ${schema}.sessions s on s.number = r.session
        left join ${schema}.approvals a on a.session = r.session and a.run = r.key
        order by s.id, r.run_id, a.key`,
      );
      return rows;
    };
    const before = await all();
    assert.equal((before as unknown[]).length, 4);
    // The tables of version 1 lack these, and have all else.
    await pool.query(
      `drop table ${schema}.runs, ${schema}.approvals, ${schema}.deleted_epochs, ${schema}.rules;
      alter table ${schema}.inbox drop column start_run, drop column is_cancelled, drop column is_held,
        drop column returns, drop column is_read;
      drop index ${schema}.inbox_waiting;
      update ${schema}.bowline_version set version = 1`,
    );
    const database = new Database({
      pool,
      server: "PostgreSQL",
      secrets: [],
      timeoutMs: 5000,
      retryMs: 0,
    });
    const manual = rig.open({ schema, migrations: "manual" });
    assert.match(
      (await errorOf(manual.list())).message,
      /is of version 1, and this code needs version 5/,
    );
    assert.deepEqual([await manual.pendingMigrations(), await manual.hasTables()], [4, true]);
    assert.equal(await rig.open({ schema: "not_there" }).hasTables(), false);
    assert.equal(await migrate(database, schema), 4);
    assert.deepEqual(await all(), before);
    assert.equal((await manual.durable.openApprovals({ sessionId: "a" })).length, 2);
    await manual.durable.push("a", started("m"));
    assert.equal((await manual.durable.waiting("a")).length, 1);
    // Whether the transcript has a message of before is not known, so it is not put back.
    const end = { type: "run_end", runId: "2\0", reason: "interrupted" } as const;
    await manual.durable.append("a", epoch, [item("end", end)]);
    assert.equal((await manual.durable.waiting("a")).length, 1);
    assert.equal(migrations.length, 5);
  });
});
