/**
 * Queued messages are in the log, and each reaches the model once, whatever happens to the process.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AgentMessage } from "../../src/agent/index.ts";
import { BowlineError } from "../../src/errors.ts";
import {
  attachSession,
  createMemoryStore,
  createSession,
  openSession,
  resumeSession,
  type Entry,
  type Session,
  type Store,
} from "../../src/session/index.ts";
import { createJsonlStore } from "../../src/session/node/index.ts";
import { createScriptedModel, scriptedToolCall } from "../../src/testing/index.ts";
import { Agent, type AgentOptions } from "../../src/agent/index.ts";
import { assertAccepted, user } from "../agent/context/rig.ts";
import { entriesIn, newSession, sessionOf } from "./agent-rig.ts";
import { temporaryFolder } from "./support.ts";
import { code } from "../../../../test/support/error-code.ts";
import { hello, rig, tool, type Rig } from "../support.ts";
import { texts } from "../../../../test/support/message-texts.ts";
import { withAppend } from "../../../../test/support/with-append.ts";

const said = (messages: readonly unknown[]): string[] =>
  texts(messages as AgentMessage[]).filter((text) => text.startsWith("user"));
const kindsIn = async (store: Store): Promise<string[]> =>
  (await entriesIn(store, "s")).map(({ type }) => type);

async function queuedIn(session: Session): Promise<string[]> {
  const { queued = [] } = await session.state();
  return queued.map(({ queue, message }) => `${queue} ${(message as { content: string }).content}`);
}

/** Fails after a while. */
async function noRoom(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 5));
  throw new BowlineError("storage_failed", "There is no room left.");
}

/** The next process that opens the session. */
async function next(
  store: Store,
  answers: string[] = ["Next."],
): Promise<Rig & { session: Session }> {
  const made = rig(answers);
  const session = await openSession(store, "s");
  await attachSession(made.agent, session);
  return { ...made, session };
}

describe("a message that is queued", () => {
  it("is in the log before a run takes it, and is restored in the next process", async () => {
    await using folder = await temporaryFolder();
    const store = createJsonlStore(folder.path);
    const { agent } = rig([]);
    const session = await createSession(store, { id: "s" });
    const attached = await attachSession(agent, session);
    agent.steer(user("one"));
    agent.followUp(user("two"));
    agent.steer(user("three"));
    await attached.queued();
    assert.deepEqual(await kindsIn(store), ["queued", "queued", "queued"]);
    await session.close();

    const { agent: later, script, session: again } = await next(store, ["A", "B", "C"]);
    assert.deepEqual(await queuedIn(again), ["steering one", "followUp two", "steering three"]);
    assert.equal((await later.prompt("Go")).reason, "done");
    assert.deepEqual(said(later.state.messages), [
      "user: Go",
      "user: one",
      "user: three",
      "user: two",
    ]);
    assert.equal(script.calls.length, 3);
    assert.deepEqual(await queuedIn(again), []);
    await again.close();
    const last = await next(store);
    assert.equal(last.agent.hasQueuedMessages(), false);
    await last.session.close();
  });

  it("does not come back after it was cleared", async () => {
    const store = createMemoryStore();
    const { agent } = rig([]);
    const session = await newSession(store);
    await attachSession(agent, session);
    agent.clearSteeringQueue(); // nothing is queued, so nothing is written
    agent.steer(user("one"));
    agent.followUp(user("two"));
    agent.clearSteeringQueue();
    assert.deepEqual(await kindsIn(store), ["queued", "queued", "queue_clear"]);
    agent.steer(user("three"));
    await session.close();
    const { agent: later, session: again } = await next(store);
    assert.deepEqual(await queuedIn(again), ["followUp two", "steering three"]);
    later.clearAllQueues();
    assert.equal(later.hasQueuedMessages(), false);
    await again.close();
    assert.equal((await next(store)).agent.hasQueuedMessages(), false);
  });

  it("that is removed alone does not come back, and one that was put before others keeps its place", async () => {
    const store = createMemoryStore();
    const { agent } = rig([]);
    const session = await newSession(store);
    await attachSession(agent, session);
    const [one, two, three] = [user("one"), user("two"), user("three")];
    for (const message of [one, two, three]) agent.steer(message);
    assert.equal(agent.unqueue(two), true);
    assert.equal(agent.unqueue(two), false); // writes nothing
    agent.steer(user("two, edited"), { before: three });
    agent.followUp(user("then"));
    agent.steer(user("zero"), { before: user("never queued") });
    await session.close();
    assert.deepEqual(
      (await kindsIn(store)).filter((kind) => kind !== "queued"),
      ["queue_remove"],
    );
    const { session: again } = await next(store);
    const order = ["zero", "one", "two, edited", "three"].map((text) => `steering ${text}`);
    assert.deepEqual(await queuedIn(again), [...order, "followUp then"]);
    await again.close();
  });

  it("goes to the end if it is put before a message that is not queued, and nothing else is in its queue", async () => {
    const store = createMemoryStore();
    const { agent } = rig([]);
    const session = await newSession(store);
    await attachSession(agent, session);
    agent.followUp(user("one"));
    agent.followUp(user("two"));
    agent.steer(user("alone"), { before: user("never queued") });
    const running = agent.prompt("Go");
    agent.abort();
    assert.equal((await running).reason, "aborted");
    await session.close();
    const { session: again } = await next(store);
    assert.deepEqual(await queuedIn(again), ["followUp one", "followUp two", "steering alone"]);
    await again.close();
  });

  it("goes first if it is put before a message of the other queue, also in the next process", async () => {
    const store = createMemoryStore();
    const { agent } = rig([]);
    const session = await newSession(store);
    await attachSession(agent, session);
    const later = user("later");
    agent.steer(user("one"));
    agent.followUp(later);
    agent.steer(user("zero"), { before: later });
    await session.close();
    const { agent: restarted, session: again } = await next(store, ["A", "B", "C", "D"]);
    const order = ["steering zero", "steering one", "followUp later"];
    assert.deepEqual(await queuedIn(again), order);
    assert.equal((await restarted.prompt("Go")).reason, "done");
    const all = ["Go", "zero", "one", "later"].map((text) => `user: ${text}`);
    assert.deepEqual(said(restarted.state.messages), all);
    await again.close();
  });

  it("keeps its place in the log after a run that did not take it", async () => {
    const store = createMemoryStore();
    const { agent } = rig([]);
    const session = await newSession(store);
    await attachSession(agent, session);
    const [gone, last] = [user("gone"), user("last")];
    agent.followUp(gone);
    agent.followUp(last);
    agent.followUp(user("first"), { before: gone });
    agent.unqueue(gone);
    const running = agent.prompt("Go");
    agent.abort();
    assert.equal((await running).reason, "aborted");
    await session.close();
    const { session: again } = await next(store);
    assert.deepEqual(await queuedIn(again), ["followUp first", "followUp last"]);
    await again.close();
  });

  it("is not recorded any more after detach()", async () => {
    const store = createMemoryStore();
    const { agent } = rig(["One."]);
    const session = await newSession(store);
    const attached = await attachSession(agent, session);
    agent.followUp(user("mine"));
    attached.detach();
    agent.steer(user("mine too"));
    assert.equal(agent.hasQueuedMessages(), true);
    await session.close();
    assert.equal((await next(store)).agent.hasQueuedMessages(), false);
  });

  it("survives any number of runs that do not take it, and is found without reading further back", async () => {
    const store = createMemoryStore();
    const { agent } = rig(["A", "B", "C"]);
    const session = await newSession(store);
    await attachSession(agent, session);
    await agent.prompt("before");
    agent.followUp(user("later"));
    agent.abort();
    for (const text of ["first", "second"]) {
      const running = agent.prompt(text);
      agent.abort();
      assert.equal((await running).reason, "aborted");
    }
    await session.close();
    let seqs: number[] = [];
    const counting: Store = {
      ...store,
      async *read(...args) {
        for await (const batch of store.read(...args)) {
          for (const entry of batch) {
            seqs.push(entry.seq);
            yield [entry];
          }
        }
      },
    };
    const reader = await openSession(counting, "s", { readOnly: true });
    assert.deepEqual(await queuedIn(reader), ["followUp later"]);
    const waiting = (await entriesIn(store, "s")).find(({ type }) => type === "queued")?.seq;
    assert.equal(Math.min(...seqs), waiting);
    seqs = [];
    const { agent: later } = await next(store, ["D", "E"]);
    await later.prompt("third");
    assert.deepEqual(said(later.state.messages).slice(-2), ["user: third", "user: later"]);
  });

  it("stays in the original session on a fork, and is dropped by a rewind before it", async () => {
    const store = createMemoryStore();
    const { agent } = rig(["A"]);
    const session = await newSession(store);
    await attachSession(agent, session);
    await agent.prompt("Go");
    const head = (await session.head()) ?? "";
    agent.followUp(user("for here"));
    const there = await session.append({ type: "label", targetId: head, label: "x" });
    const fork = await session.fork({ id: "fork" });
    assert.deepEqual([await queuedIn(session), await queuedIn(fork)], [["followUp for here"], []]);
    await session.close();

    const rewound = await openSession(store, "s");
    const other = rig(["B", "C"]);
    await rewound.rewind(head);
    await attachSession(other.agent, rewound);
    assert.equal(other.agent.hasQueuedMessages(), false);
    await rewound.rewind(there.id);
    await other.agent.prompt("On.");
    assert.deepEqual(await queuedIn(rewound), []);
    assert.deepEqual(said(other.agent.state.messages), ["user: Go", "user: On."]);
  });

  it("rejects queued() if its entry cannot be written, and ends the next run", async () => {
    const store = createMemoryStore();
    const session = await newSession(store);
    const { agent } = rig(["A"]);
    const attached = await attachSession(agent, session);
    await session.close();
    agent.steer(user("lost"));
    await assert.rejects(attached.queued(), code("invalid_state"));
    assert.equal((await agent.prompt("Go")).error?.code, "invalid_state");
  });

  it("before a run ends the run at its start if its entry cannot be written", async () => {
    const { agent } = rig(["never"]);
    const session = await createSession(withAppend(createMemoryStore(), noRoom), { id: "s" });
    await attachSession(agent, session);
    agent.steer(user("just now"));
    assert.equal((await agent.prompt("Go")).error?.code, "storage_failed");
    assert.deepEqual([agent.state.messages, agent.hasQueuedMessages()], [[], true]);
  });

  it("stays in the queue if its entry cannot be written, even if that is known late", async () => {
    const { agent } = rig(["A", "never"]);
    let isFull = false;
    const full = withAppend(createMemoryStore(), (append, entries) =>
      isFull ? noRoom() : append(entries),
    );
    const session = await createSession(full, { id: "s" });
    await attachSession(agent, session);
    agent.subscribe((event) => {
      if (event.type !== "message_end" || event.message.role !== "assistant" || isFull) return;
      isFull = true;
      agent.steer(user("just now"));
    });
    assert.equal((await agent.prompt("Go")).error?.code, "storage_failed");
    assert.equal(agent.hasQueuedMessages(), true);
    assert.deepEqual(texts(agent.state.messages), ["user: Go", "assistant: A"]);
    assert.deepEqual(await session.contextMessages(), agent.state.messages);
    // A run that fails at once does not take it either, and leaves no prompt that is missing in the
    // log.
    assert.equal((await agent.continue()).error?.code, "storage_failed");
    assert.equal((await agent.prompt("More")).error?.code, "storage_failed");
    assert.equal(agent.hasQueuedMessages(), true);
    assert.deepEqual(await session.contextMessages(), agent.state.messages);
  });

  it("while calls are open is added after their results", async () => {
    const store = createMemoryStore();
    const two = { content: [scriptedToolCall("a", {}, "1"), scriptedToolCall("b", {}, "2")] };
    const first = rig([two], [tool("a", () => "A"), tool("b", () => "B")]);
    const session = await newSession(store);
    await attachSession(first.agent, session);
    first.agent.subscribe((event) => {
      if (event.type === "tool_execution_start" && event.toolCallId === "1")
        first.agent.steer(user("note"));
    });
    await first.agent.prompt("Go");
    const cut = (await entriesIn(store, "s")).findIndex(({ type }) => type === "tool_result");
    await sessionOf(store, "t", (await entriesIn(store, "s")).slice(0, cut + 1));
    const later = rig(["Done."], [tool("a", () => "A"), tool("b", () => "B")]);
    const { result } = await resumeSession(store, "t", later.agent);
    assert.equal(result?.reason, "done");
    const sent = later.script.calls[0]?.context.messages ?? [];
    assert.deepEqual(
      sent.map(({ role }) => role),
      ["user", "assistant", "toolResult", "toolResult", "user"],
    );
  });
});

describe("a store that fails at any entry", () => {
  for (const mode of ["all", "one-at-a-time"] as const)
    it(`loses and duplicates no message that was reported as queued, ${mode}`, async () => {
      let [nth, left] = [0, 0];
      for (let appends = 1; nth < appends; nth++) {
        const store = createMemoryStore();
        await sessionOf(store, "s", []);
        let count = 0;
        const full = withAppend(store, async (append, entries) => {
          if (count++ === nth) throw new BowlineError("storage_failed", "There is no room left.");
          return append(entries);
        });
        const [queued, all]: [string[], string[]] = [[], []];
        const agent = life([], { steeringMode: mode, followUpMode: mode });
        const session = await openSession(full, "s");
        const attached = await attachSession(agent, session);
        const put = (how: "steer" | "followUp", text: string): void => {
          agent[how](user(text));
          all.push(`user: ${text}`);
          attached.queued().then(
            () => queued.push(`user: ${text}`),
            () => {},
          );
        };
        agent.subscribe((event) => {
          if (event.type === "tool_execution_start") put("steer", `tool ${all.length}`);
          if (event.type === "message_end" && event.message.role === "assistant" && all.length < 9)
            put(all.length % 2 === 0 ? "steer" : "followUp", `answer ${all.length}`);
        });
        put("steer", "before");
        put("followUp", "later");
        const { reason } = await agent.prompt(hello);
        await session.close();
        const again = await openSession(store, "s");
        const kept = said([
          ...(await again.contextMessages()),
          ...((await again.state()).queued ?? []).map(({ message }) => message),
        ]);
        for (const text of all) {
          const times = kept.filter((other) => other === text).length;
          assert.equal(times, queued.includes(text) ? 1 : 0, `${text}, when entry ${nth} failed`);
        }
        if (reason === "error") appends = nth + 2;
        left += all.length - queued.length;
      }
      assert.ok(nth > 20 && left > 10, `${nth} entries, ${left} that were not queued`);
    });
});

/**
 * An agent with messages steered from a tool, followed up from a listener, and queued before the
 * run.
 */
function life(notes: readonly string[], options: AgentOptions = {}): Agent {
  const script = createScriptedModel(
    Array.from({ length: 12 }, () => ({ messages }: { messages: readonly AgentMessage[] }) => {
      const results = messages.filter(({ role }) => role === "toolResult").length;
      return results < 3
        ? { content: [scriptedToolCall("a", {}, `call${results}`)] }
        : `Said ${messages.length}.`;
    }),
    { deltaLength: 1000 },
  );
  const left = [...notes];
  const steers = tool("a", () => {
    const note = left.shift();
    if (note !== undefined) agent.steer(user(note));
    return "A";
  });
  const agent = new Agent({
    initialState: { model: script.model, tools: [{ ...steers, replay: "never" }] },
    streamFn: script.streamFn,
    ...options,
  });
  return agent;
}

describe("a run with queued messages whose log is cut after any of its entries", () => {
  for (const mode of ["all", "one-at-a-time"] as const) {
    it(`delivers each to the model once, ${mode}`, async () => {
      const store = createMemoryStore();
      const modes = { steeringMode: mode, followUpMode: mode };
      const agent = life(["s1", "s2"], modes);
      const session = await newSession(store);
      await attachSession(agent, session);
      agent.steer(user("before"));
      agent.followUp(user("f1"));
      agent.followUp(user("f2"));
      assert.equal((await agent.prompt(hello)).reason, "done");
      const whole = await entriesIn(store, "s");
      const notes = ["before", "s1", "s2", "f1", "f2"].map((text) => `user: ${text}`);
      assert.deepEqual(said(agent.state.messages).toSorted(), ["user: Hello", ...notes].toSorted());

      for (let length = 1; length <= whole.length; length++) {
        const cut = whole.slice(0, length);
        await sessionOf(store, `cut ${length}`, cut);
        const later = life([], modes);
        const { result, session: again } = await resumeSession(store, `cut ${length}`, later);
        if (result === undefined) await later.prompt("More");
        else assert.equal(result.reason, "done");
        const inLog = cut.flatMap((entry) =>
          entry.type === "queued" ? texts([entry.message as AgentMessage]) : [],
        );
        const shown = said(later.state.messages).filter((text) => notes.includes(text));
        assert.deepEqual(
          shown.toSorted(),
          inLog.toSorted(),
          `cut behind ${length}: ${cut.at(-1)?.type}`,
        );
        assertAccepted([...later.state.messages, user("And then?")]);
        assert.deepEqual(await queuedIn(again), []);
        await again.close();
      }
    });
  }
});

describe("a process that reopens a run", () => {
  it("writes one entry each time, even if nothing else happens", async () => {
    const store = createMemoryStore();
    const first: Entry[] = [
      { seq: 0, id: "0", parentId: null, timestamp: 1, type: "run_start", runId: "r" },
      { seq: 1, id: "1", parentId: "0", timestamp: 1, type: "message", runId: "r", message: hello },
    ];
    await sessionOf(store, "s", first);
    const seqs: number[] = [];
    for (let number = 0; number < 3; number++) {
      const session = await openSession(store, "s");
      const { interrupted } = await attachSession(rig([]).agent, session);
      seqs.push(interrupted?.seq ?? -1);
      await session.close();
    }
    assert.deepEqual(seqs, [3_000_000, 4_000_000, 5_000_000]);
    const { agent, events } = rig(["Done."]);
    assert.equal((await resumeSession(store, "s", agent)).result?.reason, "done");
    assert.equal(events[0]?.seq, 6_000_000);
    assert.deepEqual((await kindsIn(store)).slice(2), [
      ...Array(4).fill("reopen"),
      "message",
      "run_end",
    ]);
  });

  it("writes none if the run is over or was rewound", async () => {
    const store = createMemoryStore();
    const { agent } = rig(["A"]);
    const session = await newSession(store);
    await attachSession(agent, session);
    await agent.prompt("Go");
    await session.close();
    const before = await kindsIn(store);
    const again = await openSession(store, "s");
    const first = await attachSession(rig([]).agent, again);
    assert.equal(first.interrupted, undefined);
    first.detach();
    await again.rewind((await again.path())[1]?.id ?? "");
    assert.equal((await attachSession(rig([]).agent, again)).interrupted, undefined);
    assert.deepEqual(await kindsIn(store), before);
  });
});
