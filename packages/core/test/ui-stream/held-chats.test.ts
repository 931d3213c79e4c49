/** Chats of `openChats` that are idle: which are let go, and what the next request gets. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ManualClock, settle } from "../../../../test/support/manual-clock.ts";
import { BowlineError, defineTool, type Agent } from "../../src/index.ts";
import { createMemoryStore, openSession, type Store } from "../../src/session/index.ts";
import { scriptedToolCall } from "../../src/testing/index.ts";
import {
  ChatRuns,
  openChats,
  type ChatAgent,
  type OpenChatsOptions,
} from "../../src/ui-stream/index.ts";
import { agentOf, answered, chunksOf, posted } from "./rig.ts";

const MINUTE = 60_000;

interface House {
  readonly clock: ManualClock;
  readonly store: Store;
  /** The agents that were made, by their chats. */
  readonly made: readonly (readonly [chatId: string, agent: Agent])[];
  readonly open: (chatId: string) => Promise<ChatAgent>;
}

function house(
  makeAgent: () => Agent = () => agentOf(["Hi.", "Again."]),
  { isKept = true, ...options }: Partial<OpenChatsOptions<undefined>> & { isKept?: boolean } = {},
): House {
  const clock = new ManualClock();
  const { store = createMemoryStore() } = options;
  const made: [string, Agent][] = [];
  const agents = (chatId: string): Agent => {
    const agent = makeAgent();
    made.push([chatId, agent]);
    return agent;
  };
  const open = openChats({
    agents,
    mayUse: () => true,
    clock,
    ...options,
    ...(isKept && { store }),
  })(undefined);
  return { clock, store, made, open: async (chatId) => open(chatId) };
}

/** A store whose sessions are closed by `close`, which gets the real way. */
function closing(close: (real: () => Promise<void>) => Promise<void>): Store {
  const memory = createMemoryStore();
  const own = (writer: Awaited<ReturnType<Store["open"]>>): typeof writer =>
    new Proxy(writer, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (name === "close") return () => close(() => target.close());
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  return {
    ...memory,
    create: async (header, entries) => own(await memory.create(header, entries)),
    open: async (id) => own(await memory.open(id)),
  };
}

const pay = defineTool({
  name: "pay",
  description: "Pays a bill",
  parameters: { type: "object", properties: { to: { type: "string" } } } as const,
  needsApproval: true,
  execute: ({ to }) => `Paid ${to}.`,
});
const payer = (): Agent =>
  agentOf([{ content: [scriptedToolCall("pay", { to: "Ann" }, "c1")] }, "Done."], { tools: [pay] });

describe("an idle chat of a store", () => {
  it("is let go after 10 minutes, and has its messages when it is opened again", async () => {
    const { clock, store, made, open } = house();
    const chats = new ChatRuns();
    await chunksOf(await chats.post(posted("One"), open));
    await clock.advance(9 * MINUTE);
    await open("chat");
    await clock.advance(10 * MINUTE - 1);
    await chats.messages("chat", open);
    assert.equal(made.length, 1);
    await clock.advance(11 * MINUTE);
    await (await openSession(store, "chat")).close(); // another process may have it now
    await chunksOf(await chats.post(posted("Two"), open));
    assert.equal(made.length, 2);
    const texts = (await chats.messages("chat", open)).map(({ parts }) =>
      parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join(),
    );
    assert.deepEqual(texts, ["One", "Hi.", "Two", "Hi."]);
    await clock.advance(11 * MINUTE);
    assert.equal(clock.pending, 0, "nothing is looked for while no chat is open");
  });

  it("stays while its run waits for an approval, and 10 minutes from the run's end", async () => {
    const { clock, made, open } = house(payer);
    const chats = new ChatRuns();
    const first = await chunksOf(await chats.post(posted("Pay"), open));
    await clock.advance(600 * MINUTE);
    const second = await chunksOf(await chats.post(answered(first, true), open));
    assert.ok(second.some((chunk) => chunk.type === "text-delta" && chunk.delta === "Done."));
    await clock.advance(9 * MINUTE);
    await open("chat");
    assert.equal(made.length, 1);
  });

  it("counts its time from the end of its run, not from the request that began it", async () => {
    const { clock, made, open } = house(payer);
    const chats = new ChatRuns();
    await chunksOf(await chats.post(posted("Pay"), open));
    await clock.advance(15 * MINUTE);
    const [, agent] = made[0] ?? assert.fail();
    agent.abort();
    await agent.waitForIdle();
    await clock.advance(9 * MINUTE);
    await open("chat");
    assert.equal(made.length, 1);
  });

  it("stays while a message is queued", async () => {
    const { clock, made, open } = house();
    const { agent } = await open("chat");
    (agent as Agent).followUp({ role: "user", content: "Later", timestamp: 0 });
    await clock.advance(60 * MINUTE);
    await open("chat");
    assert.equal(made.length, 1);
  });

  it("stays as long as idleMs says", async () => {
    const { clock, made, open } = house(undefined, { idleMs: 1_000 });
    await open("a");
    await clock.advance(999);
    await open("a");
    await clock.advance(2_000);
    await open("a");
    assert.equal(made.length, 2);
    const always = house(undefined, { idleMs: Infinity });
    await always.open("a");
    await always.clock.advance(10_000 * MINUTE);
    await always.open("a");
    assert.equal(always.made.length, 1);
  });

  it("is let go above maxOpen after 10 seconds, the least recently used first", async () => {
    const { clock, made, open } = house(undefined, { maxOpen: 2 });
    for (const id of ["a", "b"]) await open(id);
    await clock.advance(5_000);
    await open("a");
    await open("c");
    for (const id of ["a", "b", "c"]) await open(id);
    assert.equal(made.length, 3, "none was idle for 10 seconds");
    await clock.advance(11_000);
    await open("c");
    await settle();
    for (const id of ["b", "c"]) await open(id);
    assert.equal(made.length, 3);
    await open("a");
    assert.deepEqual(
      made.map(([chatId]) => chatId),
      ["a", "b", "c", "a"],
    );
  });

  it("is kept above maxOpen while its run goes on", async () => {
    const { clock, made, open } = house(payer, { maxOpen: 1 });
    const chats = new ChatRuns();
    const first = await chunksOf(await chats.post(posted("Pay"), open));
    await clock.advance(MINUTE);
    await open("other");
    await clock.advance(2 * MINUTE);
    await chunksOf(await chats.post(answered(first, true), open));
    assert.deepEqual(
      made.map(([chatId]) => chatId),
      ["chat", "other"],
    );
  });

  it("is opened again when its session has been closed, which a request waits for", async () => {
    const slow = Promise.withResolvers<void>();
    const store = closing(async (real) => {
      await slow.promise;
      await real();
    });
    const { clock, made, open } = house(undefined, { store });
    await open("a");
    await clock.advance(11 * MINUTE);
    const opening = Promise.all([open("a"), open("a")]);
    await settle();
    assert.equal(made.length, 1);
    slow.resolve();
    const [one, same] = await opening;
    assert.equal(one, same);
    assert.equal(made.length, 2);
  });

  it("rejects the next request if its session could not be closed, and opens for the one after", async () => {
    let isBroken = true;
    const store = closing(async (real) => {
      await real();
      if (isBroken) throw new BowlineError("storage_failed", "The disk is gone.");
    });
    const { clock, made, open } = house(undefined, { store });
    await open("a");
    await clock.advance(11 * MINUTE);
    isBroken = false;
    await assert.rejects(open("a"), { code: "storage_failed" });
    await open("a");
    assert.equal(made.length, 2);
  });

  it("leaves an agent whose later runs fail, because nothing records them", async () => {
    const { clock, made, open } = house();
    await open("chat");
    await clock.advance(11 * MINUTE);
    const now = await open("chat");
    const [, old] = made[0] ?? assert.fail();
    assert.equal((await old.prompt("Hi")).reason, "error");
    assert.equal(await open("chat"), now);
  });

  it("does not keep the process alive", async () => {
    const timers = (): number =>
      process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
    const before = timers();
    const { open } = house(undefined, { clock: undefined });
    await open("chat");
    assert.equal(timers(), before);
  });
});

describe("a chat without a store", () => {
  it("is held as long as the process lives: its messages are nowhere else", async () => {
    const { clock, made, open } = house(undefined, { isKept: false });
    for (let index = 0; index < 1_100; index++) await open(`chat ${index}`);
    await clock.advance(600 * MINUTE);
    await open("chat 0");
    assert.equal(made.length, 1_100);
    assert.equal(clock.pending, 0);
  });

  it("takes no bounds, which would lose it", () => {
    const agents = (): Agent => agentOf([]);
    const mayUse = (): boolean => true;
    for (const bound of [{ idleMs: 1 }, { maxOpen: 1 }])
      assert.throws(() => openChats({ agents, mayUse, ...bound }), {
        code: "invalid_argument",
        message: /needs a store/,
      });
    const store = createMemoryStore();
    for (const bound of [{ idleMs: 0 }, { idleMs: Number.NaN }, { maxOpen: 0 }, { maxOpen: 1.5 }])
      assert.throws(() => openChats({ agents, mayUse, store, ...bound }), /positive/);
  });
});
