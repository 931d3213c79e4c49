/** Reading a session with missing entries, and approvals that are only partly in the log. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { requireApproval } from "../../src/agent/index.ts";
import type { AssistantMessage } from "../../src/llm/message.ts";
import {
  attachSession,
  createMemoryStore,
  createSession,
  openSession,
  resumeSession,
  type Entry,
  type EntryBody,
  type Session,
} from "../../src/session/index.ts";
import { pathTo } from "../../src/session/path.ts";
import { deferred } from "../../../../test/support/deferred.ts";
import { settle } from "../../../../test/support/manual-clock.ts";
import { texts } from "../../../../test/support/message-texts.ts";
import { withAppend } from "../../../../test/support/with-append.ts";
import { call, hello, rig, tool } from "../support.ts";
import { sessionOf } from "./agent-rig.ts";
import { collect, user } from "./support.ts";

const entry = (seq: number, parentId: string | null, body: EntryBody): Entry => ({
  seq,
  id: `e${seq}`,
  parentId,
  timestamp: 1,
  ...body,
});
const chain = (...bodies: EntryBody[]): Entry[] =>
  bodies.map((body, seq) => entry(seq, seq === 0 ? null : `e${seq - 1}`, body));

describe("a read of a session", () => {
  it("includes every entry appended before it, awaited or not", async () => {
    const gate = deferred();
    const store = withAppend(createMemoryStore(), async (append, entries) => {
      await gate.promise;
      await append(entries);
    });
    const session = await createSession(store, { id: "s" });
    const appending = session.append(user("a"));
    const reading = collect(session.entries());
    const asked = Promise.all([session.lastSeq(), session.contextMessages()]);
    await settle();
    gate.resolve();
    assert.deepEqual((await reading).length, 1);
    const [last, messages] = await asked;
    assert.deepEqual([last, messages.length], [0, 1]);
    await appending;
  });

  it("works after an append that failed", async () => {
    const store = withAppend(createMemoryStore(), () => Promise.reject(new Error("full")));
    const session = await createSession(store, { id: "s" });
    await assert.rejects(session.append(user("a")), /full/);
    assert.deepEqual(await collect(session.entries()), []);
  });
});

describe("the path through a log with missing entries", () => {
  const idsOf = async (entries: readonly Entry[], at?: string): Promise<string> => {
    const read = async function* ({ from = Infinity }: { from?: number | undefined }) {
      yield entries.filter(({ seq }) => seq <= from).toReversed();
    };
    const path = await pathTo(read, at);
    return path.map(({ id }) => id).join(" ");
  };
  const log = (...places: [seq: number, parent: number | null][]): Entry[] =>
    places.map(([seq, parent]) => entry(seq, parent === null ? null : `e${parent}`, user("x")));

  it("continues with the entries before the gap", async () => {
    assert.equal(await idsOf(log([0, null], [1, 0], [3, 2])), "e0 e1 e3");
  });

  it("skips several gaps in a row", async () => {
    const entries = log([0, null], [2, 1], [3, 2], [5, 4], [6, 5]);
    assert.equal(await idsOf(entries), "e0 e2 e3 e5 e6");
    assert.equal(await idsOf(entries, "e3"), "e0 e2 e3");
  });

  it("leaves out another branch, even if entries of it are missing", async () => {
    const entries = log([0, null], [1, 0], [3, 2], [4, 1]);
    assert.equal(await idsOf(entries), "e0 e1 e4");
    assert.equal(await idsOf(log([0, null], [1, 0], [3, 0], [4, 2])), "e0 e1 e4");
    assert.equal(await idsOf(log([1, 0], [2, 1], [4, 1])), "e1 e4");
  });
});

describe("a compaction whose first kept entry is missing", () => {
  it("shows its summary and what came after", async () => {
    const store = createMemoryStore();
    const compaction = { type: "compaction", summary: "All so far.", firstKeptId: "gone" } as const;
    await sessionOf(store, "s", chain(user("a"), user("b"), compaction, user("c")));
    const session = await openSession(store, "s", { readOnly: true });
    const shown = (await session.contextMessages()) as AssistantMessage[];
    assert.deepEqual(texts(shown), ["user: All so far.", "user: c"]);
  });
});

const answer: EntryBody = {
  type: "message",
  runId: "old",
  message: {
    role: "assistant",
    content: [{ type: "toolCall", id: "1", name: "a", arguments: {} }],
    api: "scripted",
    provider: "scripted",
    model: "scripted",
    usage: {},
    stopReason: "toolUse",
    timestamp: 1,
  },
};
const request: EntryBody = {
  type: "approval_request",
  approvalId: "old:1:1",
  toolCallId: "1",
  toolName: "a",
  args: {},
};
const allowed: EntryBody = {
  type: "approval_answer",
  approvalId: "old:1:1",
  decision: "allow",
};
const kinds = async (session: Session): Promise<string[]> =>
  (await collect(session.entries())).map(({ type }) => type);

describe("an approval in the log of a resumed run", () => {
  const left = (...more: EntryBody[]): Entry[] =>
    chain(
      { type: "run_start", runId: "old" },
      { type: "message", runId: "old", message: hello },
      answer,
      ...more,
    );

  it("needs another answer if it was answered and then requested again", async () => {
    for (const [entries, expected] of [
      [[request, allowed], "toolResult: ran"],
      [[request, allowed, request], "toolResult: Denied: not now."],
    ] as const) {
      const store = createMemoryStore();
      await sessionOf(store, "s", left(...entries));
      const { agent } = rig(["Done."], [tool("a", () => "ran")], {
        beforeToolCall: requireApproval(),
      });
      agent.subscribe((event) => {
        if (event.type === "approval_request")
          setImmediate(() =>
            agent.answer(event.approvalId, { decision: "deny", reason: "not now" }),
          );
      });
      const { session } = await resumeSession(store, "s", agent);
      assert.equal(texts((await session.contextMessages()) as AssistantMessage[])[2], expected);
    }
  });

  it("is recorded again when the recorded answer is not used", async () => {
    const store = createMemoryStore();
    await sessionOf(store, "s", left(request, allowed));
    const { agent } = rig(["Done."], [tool("a", () => "ran")], {
      // A request that is emitted but not awaited.
      beforeToolCall: async ({ run, toolCall, args, idempotencyKey: approvalId }) => {
        const { id: toolCallId, name: toolName } = toolCall;
        await run.emit({ type: "approval_request", approvalId, toolCallId, toolName, args });
        await run.emit({ type: "approval_answer", approvalId, decision: "deny" });
        return { block: true, reason: "Nobody waits." };
      },
    });
    const { session } = await resumeSession(store, "s", agent);
    const asked = (await kinds(session)).filter((kind) => kind.startsWith("approval_"));
    assert.deepEqual(asked, [
      "approval_request",
      "approval_answer",
      "approval_request",
      "approval_answer",
    ]);
  });

  it("for the rest of the session saves the run the next question", async () => {
    const store = createMemoryStore();
    await sessionOf(store, "s", left(request, { ...allowed, remember: "session" }));
    const { agent, events } = rig([call("a", "2"), "Done."], [tool("a", () => "ran")], {
      beforeToolCall: requireApproval(),
    });
    const { session } = await resumeSession(store, "s", agent);
    assert.equal(events.filter(({ type }) => type === "approval_request").length, 1);
    const shown = texts((await session.contextMessages()) as AssistantMessage[]);
    assert.equal(shown.filter((text) => text === "toolResult: ran").length, 2);
  });

  it("is used once, and not recorded again", async () => {
    const store = createMemoryStore();
    await sessionOf(store, "s", left(request, allowed));
    const { agent } = rig(["Done."], [tool("a", () => "ran")], {
      beforeToolCall: requireApproval(),
    });
    const { session } = await resumeSession(store, "s", agent);
    const asked = (await kinds(session)).filter((kind) => kind.startsWith("approval_"));
    assert.deepEqual(asked, ["approval_request", "approval_answer"]);
  });
});

describe("an attached session", () => {
  it("records that an approval was for the rest of the session", async () => {
    const session = await createSession(createMemoryStore(), { id: "s" });
    const { agent } = rig([call("a"), "Done."], [tool("a", () => "ran")], {
      beforeToolCall: requireApproval(),
    });
    agent.subscribe((event) => {
      if (event.type === "approval_request")
        agent.answer(event.approvalId, { decision: "allow", remember: "session" });
    });
    await attachSession(agent, session);
    await agent.prompt("Hi");
    const kept = (await collect(session.entries())).filter(
      ({ type }) => type === "approval_answer",
    );
    assert.deepEqual(
      kept.map((one) => "remember" in one && one.remember),
      ["session"],
    );
  });

  it("records the request and the answer of an approval given in its own process", async () => {
    const session = await createSession(createMemoryStore(), { id: "s" });
    const { agent } = rig([call("a"), "Done."], [tool("a", () => "ran")], {
      beforeToolCall: requireApproval(),
    });
    agent.subscribe((event) => {
      if (event.type === "approval_request")
        setImmediate(() => agent.answer(event.approvalId, { decision: "allow" }));
    });
    await attachSession(agent, session);
    await agent.prompt("Go");
    const asked = (await kinds(session)).filter((kind) => kind.startsWith("approval_"));
    assert.deepEqual(asked, ["approval_request", "approval_answer"]);
  });
});
