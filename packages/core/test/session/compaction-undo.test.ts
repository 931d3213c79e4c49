/** A compaction is undone by an entry: the model gets the earlier messages again. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  Agent,
  createCompaction,
  type Compaction,
  type CompactionEvent,
} from "../../src/agent/index.ts";
import {
  attachSession,
  createMemoryStore,
  createSession,
  openSession,
  sessionToMarkdown,
  type AgentSession,
  type Session,
  type Store,
} from "../../src/session/index.ts";
import { createJsonlStore } from "../../src/session/node/index.ts";
import { createScriptedModel, type ScriptedModel } from "../../src/testing/index.ts";
import { asksForSummary, sumOf } from "../agent/context/rig.ts";
import { code } from "../../../../test/support/error-code.ts";
import { deferred } from "../../../../test/support/deferred.ts";
import { texts } from "../../../../test/support/message-texts.ts";
import { temporaryFolder } from "./support.ts";

const WINDOW = 4000;
/** So many prompts that one run compacts. */
const many = ["one", "two", "three", "four", "five", "six", "seven", "eight"];
const long = (name: string): string => `${name} ${"word ".repeat(400)}`;

/** A process with the session open: its agent answers each prompt at length. */
interface Life {
  readonly agent: Agent;
  readonly script: ScriptedModel;
  readonly compaction: Compaction;
  readonly session: Session;
  readonly attached: AgentSession;
  readonly ends: Extract<CompactionEvent, { type: "compaction_end" }>[];
  compact(): Promise<boolean>;
  undo(): Promise<boolean>;
  /** The texts of the last request. */
  sent(): string[];
}

async function begin(session: Session, window = WINDOW): Promise<Life> {
  let count = 0;
  const ends: Life["ends"] = [];
  const script = createScriptedModel(
    Array.from({ length: 40 }, () => (context: Parameters<typeof asksForSummary>[0]) => {
      const text = asksForSummary(context) ? `Summary ${++count}.` : long("answer");
      const usage = { input: sumOf(context.messages) + 100, output: 500 };
      return { content: [{ type: "text" as const, text }], usage };
    }),
    { deltaLength: 5000 },
  );
  const compaction = createCompaction({
    keepRecentTokens: 600,
    maxSummaryTokens: 64,
    onCompaction: async (event) => {
      if (event.type === "compaction_end") ends.push(event);
      if (event.type === "compaction_end" && !agent.state.isStreaming)
        await attached.addCompaction(event);
    },
  });
  const agent = new Agent({
    model: { ...script.model, contextWindow: window },
    transformContext: compaction.transformContext,
    streamFn: compaction.wrap(script.streamFn),
  });
  const attached = await attachSession(agent, session);
  return {
    agent,
    script,
    compaction,
    session,
    attached,
    ends,
    compact: () => compaction.compact(agent.state.messages),
    undo: async () => {
      const isUndone = await attached.undoCompaction({ tokensBefore: 1, tokensAfter: 2 });
      compaction.restore(undefined);
      return isUndone;
    },
    sent: () => texts(script.calls.at(-1)?.context.messages ?? []),
  };
}

async function inMemory(window?: number): Promise<Life> {
  return begin(await createSession(createMemoryStore(), { id: "s" }), window);
}

/** Closes the session and opens it in another process. */
async function reopened(store: Store, { session }: Life, window?: number): Promise<Life> {
  await session.close();
  return begin(await openSession(store, "s"), window);
}

const short = (sent: readonly string[]): string[] =>
  sent.map(
    (text) =>
      text
        .replace(/(?: word)+\s*$/, "")
        .split("\n")
        .at(-1) ?? "",
  );

describe("an undone compaction", () => {
  it("gives the next request all earlier messages, in this process and in the next", async () => {
    const store = createMemoryStore();
    const life = await begin(await createSession(store, { id: "s" }));
    await life.agent.prompt("one");
    await life.agent.prompt("two");
    const whole = texts(life.agent.state.messages);
    assert.equal(await life.compact(), true);
    assert.notDeepEqual(texts((await life.session.contextMessages()) as never[]), whole);
    assert.equal(await life.undo(), true);
    assert.deepEqual(texts(life.agent.state.messages), whole);
    await life.agent.prompt("three");
    assert.deepEqual(life.sent(), [...whole, "user: three"]);
    const next = await reopened(store, life);
    const last = next.agent.state.messages.at(-1);
    assert.equal(last?.role === "assistant" && last.usage.output, 500); // of a whole request
    await next.agent.prompt("four");
    assert.deepEqual(next.sent().slice(0, whole.length), whole);
    assert.deepEqual(
      (await next.session.path()).flatMap(({ type }) => (/compaction/.test(type) ? [type] : [])),
      ["compaction", "compaction_undo"],
    );
  });

  it("may be one that a run made itself, in an earlier process", async () => {
    await using folder = await temporaryFolder();
    const store = createJsonlStore(folder.path);
    const life = await begin(await createSession(store, { id: "s" }));
    for (const text of many) await life.agent.prompt(text);
    assert.equal(life.ends.length, 1);
    const next = await reopened(store, life, 100_000);
    assert.match(texts(next.agent.state.messages).join("\n"), /Summary 1/);
    assert.equal(await next.undo(), true);
    await next.agent.prompt("nine");
    const users = next.sent().filter((text) => text.startsWith("user: "));
    assert.deepEqual(
      users,
      [...many, "nine"].map((text) => `user: ${text}`),
    );
    await next.session.close();
  });

  it("is the last of several; each undo gives back what was sent before it", async () => {
    const life = await inMemory(100_000);
    const views: string[][] = [];
    for (const text of ["one", "two", "three"]) {
      await life.agent.prompt(text);
      await life.agent.prompt(`${text} again`);
      views.push(short(texts((await life.session.contextMessages()) as never[])));
      assert.equal(await life.compact(), true);
    }
    for (const view of views.toReversed()) {
      assert.equal(await life.undo(), true);
      const now = short(texts(life.agent.state.messages));
      assert.deepEqual(now.slice(0, view.length), view);
      const rest = now.slice(view.length);
      assert.ok(!rest.some((text) => text.includes("Summary")), rest.join("\n"));
    }
    assert.equal(await life.undo(), false);
    assert.equal(life.agent.state.messages.length, 12);
  });

  it("leaves room for another one", async () => {
    const store = createMemoryStore();
    const life = await begin(await createSession(store, { id: "s" }), 100_000);
    await life.agent.prompt("one");
    await life.agent.prompt("two");
    await life.compact();
    await life.undo();
    assert.equal(await life.compact(), true);
    await life.agent.prompt("three");
    assert.match(life.sent().join("\n"), /Summary 2/);
    const next = await reopened(store, life);
    assert.match(texts(next.agent.state.messages).join("\n"), /Summary 2/);
    assert.equal(await next.undo(), true);
    assert.equal(await next.undo(), false);
    assert.equal(next.agent.state.messages.length, 6);
  });

  it("is made again by the next run if everything is too long, and stays undone otherwise", async () => {
    for (const [window, again] of [
      [WINDOW, 1],
      [100_000, 0],
    ] as const) {
      const store = createMemoryStore();
      const life = await begin(await createSession(store, { id: "s" }));
      for (const text of many) await life.agent.prompt(text);
      const next = await reopened(store, life, window);
      assert.equal(await next.undo(), true);
      await next.agent.prompt("nine");
      assert.equal(next.ends.length, again, `window ${window}`);
    }
  });

  it("does not count the usage of requests that had the summary", async () => {
    const life = await inMemory(100_000);
    await life.agent.prompt("one");
    await life.agent.prompt("two");
    await life.compact();
    await life.agent.prompt("three");
    const [shortest] = life.script.calls.slice(-1).map(({ context }) => sumOf(context.messages));
    await life.undo();
    await life.compact(); // counts from what is sent now
    const { tokensBefore = 0 } = life.ends.at(-1) ?? {};
    assert.ok(tokensBefore > sumOf(life.agent.state.messages), `${tokensBefore}`);
    assert.ok(tokensBefore > (shortest ?? 0) + 1000, `${tokensBefore} after ${shortest}`);
  });

  it("stays undone in a fork, and is in force in a fork from before", async () => {
    const life = await inMemory();
    await life.agent.prompt("one");
    await life.agent.prompt("two");
    await life.compact();
    const before = (await life.session.head()) ?? "";
    await life.undo();
    const after = await life.session.fork({ id: "after" });
    const earlier = await life.session.fork({ id: "earlier", at: before });
    assert.equal((await after.contextMessages()).length, 4);
    assert.equal(await after.compaction(), undefined);
    assert.match(texts((await earlier.contextMessages()) as never[]).join("\n"), /Summary 1/);
    assert.equal((await earlier.compaction())?.tokensAfter, life.ends[0]?.tokensAfter);
    await after.close();
    await earlier.close();
  });

  it("keeps messages that the program pushed, and is named in an export", async () => {
    const life = await inMemory();
    await life.agent.prompt("one");
    await life.agent.prompt("two");
    await life.compact();
    life.agent.state.messages.push({ role: "user", content: "pushed", timestamp: 1 });
    assert.equal(await life.undo(), true);
    assert.equal(texts(life.agent.state.messages).at(-1), "user: pushed");
    const markdown = await sessionToMarkdown(life.session);
    assert.match(markdown, /The summary was withdrawn: the model gets the earlier messages again/);
    assert.match(markdown, /one[^]*word word/);
  });

  it("cannot be undone during a run, and nothing is written without one", async () => {
    const gate = deferred();
    const { model, streamFn } = createScriptedModel([async () => (await gate.promise, "Done.")]);
    const agent = new Agent({ model, streamFn });
    const session = await createSession(createMemoryStore(), { id: "s" });
    const attached = await attachSession(agent, session);
    assert.equal(await attached.undoCompaction(), false);
    assert.equal(await session.lastSeq(), -1);
    const running = agent.prompt("Go");
    await assert.rejects(attached.undoCompaction(), code("invalid_state"));
    gate.resolve();
    assert.equal((await running).reason, "done");
  });
});

describe("a compaction between runs", () => {
  it("is sent by the next process as by this one, once it is added", async () => {
    const store = createMemoryStore();
    const life = await begin(await createSession(store, { id: "s" }));
    await life.agent.prompt("one");
    await life.agent.prompt("two");
    await life.compact();
    const { session } = life;
    const stored = texts((await session.contextMessages()) as never[]);
    await life.agent.prompt("three");
    assert.deepEqual(life.sent(), [...stored, "user: three"]);
    const [usage] = (await session.path()).filter(({ type }) => type === "usage");
    assert.notEqual(usage, undefined);
  });
});
