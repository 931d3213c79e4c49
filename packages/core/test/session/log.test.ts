/** A session: a tree of entries, its transcript and state, forks, and how much is read for them. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  createMemoryStore,
  createSession,
  openSession,
  type EntryBody,
  type Session,
  type Store,
} from "../../src/session/index.ts";
import { collect, say, seqs, upTo, user } from "./support.ts";
import { code } from "../../../../test/support/error-code.ts";
import { texts } from "../../../../test/support/message-texts.ts";
import type { AgentMessage } from "../../src/agent/index.ts";

async function memory(): Promise<{ store: Store; session: Session; read: () => number }> {
  const store = createMemoryStore();
  let entries = 0;
  const counted: Store = {
    ...store,
    async *read(id, options) {
      for await (const batch of store.read(id, options)) {
        entries += batch.length;
        yield batch;
      }
    },
  };
  return { store, session: await createSession(counted, { id: "s" }), read: () => entries };
}

const show = async (messages: Promise<unknown[]>): Promise<string[]> =>
  texts((await messages) as AgentMessage[]);

const answer = (text: string, runId = "r"): EntryBody => ({
  type: "message",
  runId,
  message: {
    role: "assistant",
    content: [{ type: "text", text }],
    api: "a",
    provider: "p",
    model: "m",
    usage: { input: 1, output: 2 },
    stopReason: "stop",
    timestamp: 1,
  },
});

const intent = (key: string): EntryBody => ({
  type: "tool_intent",
  runId: "r",
  toolCallId: "call",
  toolName: "tool",
  args: {},
  replay: "never",
  idempotencyKey: key,
});

const result = (key: string): EntryBody => ({
  type: "tool_result",
  runId: "r",
  toolCallId: "call",
  idempotencyKey: key,
  result: { content: [] },
  isError: false,
});

describe("a session", () => {
  it("is a chain of entries, even if appends are not awaited", async () => {
    const { session } = await memory();
    assert.deepEqual([await session.head(), await session.lastSeq()], [null, -1]);
    const ids = await say(session, "a", "b", "c");
    const path = await session.path();
    assert.deepEqual(
      path.map(({ id }) => id),
      ids,
    );
    assert.deepEqual(
      path.map(({ parentId }) => parentId),
      [null, ...ids.slice(0, 2)],
    );
    assert.deepEqual([await session.head(), await session.lastSeq()], [ids[2], 2]);
    assert.deepEqual(await show(session.allMessages()), ["user: a", "user: b", "user: c"]);
  });

  it("continues from an earlier entry after a rewind, and keeps both branches", async () => {
    const { session } = await memory();
    const [, b = "", c = ""] = await say(session, "a", "b", "c");
    await session.rewind(b);
    assert.equal(await session.head(), b);
    assert.deepEqual(await show(session.contextMessages()), ["user: a", "user: b"]);
    await say(session, "d", "e");
    assert.deepEqual(await show(session.allMessages()), [
      "user: a",
      "user: b",
      "user: d",
      "user: e",
    ]);
    assert.deepEqual(await show(session.allMessages(c)), ["user: a", "user: b", "user: c"]);
    await session.rewind(null);
    assert.deepEqual(
      [await session.head(), await session.path(), await session.state()],
      [null, [], {}],
    );
    await say(session, "f");
    assert.deepEqual(await show(session.allMessages()), ["user: f"]);
    await assert.rejects(session.rewind("x"), code("not_found"));
    assert.deepEqual(seqs(await collect(session.entries())), upTo(6));
  });

  it("stays rewound when the next append fails", async () => {
    const { session } = await memory();
    const [a = ""] = await say(session, "a", "b");
    await session.rewind(a);
    await assert.rejects(
      session.append({ type: "title", title: 1n as never }),
      code("invalid_argument"),
    );
    assert.equal(await session.head(), a);
  });

  it("replaces compacted messages by the summary in the context, and keeps every message", async () => {
    const { session } = await memory();
    const [, , c = ""] = await say(session, "a", "b", "c");
    await session.append({ type: "compaction", summary: "a and b", firstKeptId: c });
    const [d = ""] = await say(session, "d");
    assert.deepEqual(await show(session.contextMessages()), [
      "user: a and b",
      "user: c",
      "user: d",
    ]);
    assert.deepEqual(
      (await session.contextEntries()).map(({ id }) => id),
      [undefined, c, d],
    );
    await session.append({ type: "compaction", summary: "all", firstKeptId: null });
    assert.deepEqual(await show(session.contextMessages()), ["user: all"]);
    await say(session, "e");
    assert.deepEqual(await show(session.contextMessages()), ["user: all", "user: e"]);
    assert.deepEqual(await show(session.contextMessages(c)), ["user: a", "user: b", "user: c"]);
    assert.deepEqual(await show(session.allMessages()), [
      "user: a",
      "user: b",
      "user: c",
      "user: d",
      "user: e",
    ]);
  });

  it("shows only the summary for a compaction whose first kept entry is on another branch", async () => {
    const { session } = await memory();
    const [a = "", b = ""] = await say(session, "a", "b");
    await session.rewind(a);
    await session.append({ type: "compaction", summary: "sum", firstKeptId: b });
    await say(session, "c");
    assert.deepEqual(await show(session.contextMessages()), ["user: sum", "user: c"]);
  });

  it("reads back only to the compaction and the last run", async () => {
    const { session, read } = await memory();
    for (let round = 0; round < 50; round++) await say(session, ...upTo(100).map(String));
    await session.append({ type: "run_start", runId: "r", model: { provider: "p", model: "m" } });
    const [kept = ""] = await say(session, "kept");
    await session.append({ type: "compaction", summary: "sum", firstKeptId: kept });
    const before = read();
    assert.deepEqual(await show(session.contextMessages()), ["user: sum", "user: kept"]);
    assert.equal((await session.state()).run?.runId, "r");
    assert.ok(read() - before < 1000, `${read() - before} of 5000 entries were read`);
  });

  it("keeps entries of unknown types on the path, and sends none of them to a model", async () => {
    const { session } = await memory();
    await say(session, "a");
    await session.append({ type: "from tomorrow", deep: [1] } as unknown as EntryBody);
    await say(session, "b");
    assert.deepEqual(await show(session.contextMessages()), ["user: a", "user: b"]);
    const fork = await session.fork();
    assert.deepEqual(
      (await fork.path()).map(({ type }) => type),
      ["message", "from tomorrow", "message"],
    );
    assert.deepEqual((await fork.path())[1], (await session.path())[1]);
  });

  it("has labels, of which the last one counts, and a title", async () => {
    const { session, store } = await memory();
    const [a = "", b = ""] = await say(session, "a", "b");
    await session.label(a, "one");
    await session.label(b, "two");
    await session.label(a, "first");
    await session.label(b, "");
    await session.rename("Named");
    assert.deepEqual([...(await session.labels())], [[a, "first"]]);
    assert.equal((await store.list()).sessions[0]?.title, "Named");
    await assert.rejects(session.label("x", "y"), code("not_found"));
  });

  it("can follow and read but not write when opened read-only", async () => {
    const { session, store } = await memory();
    await say(session, "a");
    const reader = await openSession(store, "s", { readOnly: true });
    const stop = new AbortController();
    const seen = (async () => {
      const all: number[] = [];
      for await (const { seq } of reader.follow({ signal: stop.signal }))
        if (all.push(seq) === 3) stop.abort();
      return all;
    })();
    await say(session, "b", "c", "d");
    assert.deepEqual(await seen, [0, 1, 2]);
    assert.deepEqual(await show(reader.allMessages()), [
      "user: a",
      "user: b",
      "user: c",
      "user: d",
    ]);
    await assert.rejects(reader.append(user("e")), code("invalid_state"));
    await reader.close();
    await session.close();
    await assert.rejects(session.append(user("e")), code("invalid_state"));
  });
});

describe("the state of a session", () => {
  it("is empty at first, and then has the last model that was set", async () => {
    const { session } = await memory();
    assert.deepEqual(await session.state(), {});
    await session.append({
      type: "model_change",
      provider: "p",
      model: "m",
      thinkingLevel: "high",
    });
    await say(session, "a");
    assert.deepEqual(await session.state(), {
      model: { provider: "p", model: "m", thinkingLevel: "high" },
    });
    await session.append({ type: "run_start", runId: "r", model: { provider: "p", model: "n" } });
    assert.deepEqual((await session.state()).model, { provider: "p", model: "n" });
  });

  it("reports the finished and the pending calls of an open run", async () => {
    const { session } = await memory();
    await session.append({ type: "run_start", runId: "earlier" });
    await session.append(intent("of an earlier run"));
    await session.append({ type: "run_end", runId: "earlier", reason: "interrupted" });
    await session.append({ type: "run_start", runId: "r" });
    await session.append(answer("one"));
    for (const body of [intent("k1"), intent("k2"), result("k2")]) await session.append(body);
    await session.append({ type: "usage", runId: "r", usage: { input: 10 } });
    const ask = {
      type: "approval_request",
      toolCallId: "call",
      toolName: "tool",
      args: {},
    } as const;
    await session.append({ ...ask, approvalId: "answered" });
    await session.append({ ...ask, approvalId: "open" });
    await session.append({ type: "approval_answer", approvalId: "answered", decision: "allow" });
    const { run } = await session.state();
    assert.deepEqual(
      [run?.runId, run?.reason, run?.turns, run?.usage],
      ["r", undefined, 1, { input: 11, output: 2, totalTokens: 13 }],
    );
    assert.deepEqual(
      run?.openApprovals.map(({ approvalId }) => approvalId),
      ["open"],
    );
    const calls = [...(run?.calls ?? [])].map(([key, { result: end }]) => [key, end !== undefined]);
    assert.deepEqual(calls, [
      ["k1", false],
      ["k2", true],
    ]);
  });

  it("counts a nested run as part of its caller's run", async () => {
    const { session } = await memory();
    await session.append({ type: "run_start", runId: "r" });
    await session.append(intent("k1"));
    await session.append({ type: "run_start", runId: "inner", parentRunId: "r" });
    await session.append(answer("inner", "inner"));
    await session.append({ type: "run_end", runId: "inner", reason: "done" });
    assert.equal("guess" in ((await session.state()).run ?? {}), false);
    const nested = { turns: 1, usage: {}, guess: 7 };
    const usage = { input: 20, totalTokens: 20 };
    await session.append({ ...result("k1"), result: { content: [], usage, nested } } as EntryBody);
    await session.append({ ...answer("two"), guess: 5 } as EntryBody);
    const { run } = await session.state();
    assert.deepEqual(
      [run?.runId, run?.reason, run?.turns, run?.calls.size],
      ["r", undefined, 1, 1],
    );
    assert.equal(run?.guess, 12, "what the providers did not report");
    assert.equal(run?.usage.totalTokens, 23);
    await session.append({ type: "run_end", runId: "r", reason: "budget" });
    assert.equal((await session.state()).run?.reason, "budget");
  });
});

describe("a fork", () => {
  it("copies the path, names its origin, and is independent from then on", async () => {
    const { session, store } = await memory();
    const [a = "", b = ""] = await say(session, "a", "b", "c");
    await session.rewind(a);
    await say(session, "d");
    const fork = await session.fork({ at: b, metadata: { folder: "/x" } });
    assert.deepEqual(fork.header.origin, { sessionId: "s", entryId: b });
    assert.deepEqual(fork.header.metadata, { folder: "/x" });
    await say(fork, "e");
    assert.deepEqual(await show(fork.allMessages()), ["user: a", "user: b", "user: e"]);
    assert.deepEqual(await show(session.allMessages()), ["user: a", "user: d"]);
    const here = await fork.fork({ id: "named" });
    assert.deepEqual([here.id, here.header.metadata], ["named", { folder: "/x" }]);
    assert.deepEqual(seqs(await collect(here.entries())), upTo(3));
    assert.equal((await store.list()).sessions.length, 3);
    await assert.rejects(session.fork({ at: "x" }), code("not_found"));
    await assert.rejects(session.fork({ id: "named" }), code("invalid_state"));
  });

  it("has an open run marked as interrupted, while the original's run stays open", async () => {
    const { session } = await memory();
    await session.append({ type: "run_start", runId: "r" });
    await session.append(intent("k1"));
    const fork = await session.fork();
    assert.equal((await fork.state()).run?.reason, "interrupted");
    assert.equal((await session.state()).run?.reason, undefined);
    const again = await fork.fork();
    assert.deepEqual(
      (await again.path()).map(({ type }) => type),
      ["run_start", "tool_intent", "run_end"],
    );
  });

  it("of an empty session is empty and has no origin", async () => {
    const { session } = await memory();
    const fork = await session.fork();
    assert.deepEqual([fork.header.origin, await fork.path()], [undefined, []]);
  });
});
