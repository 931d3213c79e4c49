/** `openChats`: agents that are made once for each chat, and their sessions. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { BowlineError, defineTool } from "../../src/index.ts";
import { createMemoryStore, createSession, type Store } from "../../src/session/index.ts";
import { scriptedToolCall } from "../../src/testing/index.ts";
import {
  ChatRuns,
  openChats,
  type ChatAgent,
  type OpenChatsOptions,
} from "../../src/ui-stream/index.ts";
import { agentOf, answered, chunksOf, posted } from "./rig.ts";

const pay = defineTool({
  name: "pay",
  description: "Pays a bill",
  parameters: { type: "object", properties: { to: { type: "string" } } } as const,
  needsApproval: true,
  execute: ({ to }) => `Paid ${to}.`,
});
const call = { content: [scriptedToolCall("pay", { to: "Ann" }, "c1")] };
const makePayer = () => agentOf([call, "Done."], { tools: [pay] });

/** Opens chats for everybody. */
function opener(
  options: Omit<OpenChatsOptions<undefined>, "mayUse">,
): (chatId: string) => Promise<ChatAgent> {
  const open = openChats({ ...options, mayUse: () => true })(undefined);
  return async (chatId) => open(chatId);
}

/** A store whose sessions cannot be written while `isFull`. */
function fillable(): { readonly store: Store; isFull: boolean } {
  const memory = createMemoryStore();
  const disk = {
    isFull: false,
    store: {
      ...memory,
      create: async (header) => limited(await memory.create(header)),
      open: async (id) => limited(await memory.open(id)),
    } satisfies Store,
  };
  const limited = (writer: Awaited<ReturnType<Store["open"]>>): typeof writer =>
    new Proxy(writer, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (name === "append" && disk.isFull)
          return () => Promise.reject(new BowlineError("storage_failed", "There is no room left."));
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  return disk;
}

describe("openChats", () => {
  it("opens a chat once for requests that come at once, and each chat by itself", async () => {
    const asked: string[] = [];
    const open = opener({
      store: createMemoryStore(),
      agents: async (chatId) => (asked.push(chatId), agentOf(["Hi."])),
    });
    const [one, same, other] = await Promise.all([open("a"), open("a"), open("b")]);
    assert.equal(one, same);
    assert.notEqual(one.agent, other.agent);
    assert.deepEqual(asked, ["a", "b"]);
  });

  it("forgets a chat that could not be opened, and leaves its session free", async () => {
    const store = createMemoryStore();
    const used = agentOf(["Hi."]);
    await used.prompt("Hi");
    const agents = [used, agentOf(["Yes."])];
    const open = opener({ store, agents: () => agents.shift() ?? assert.fail() });
    await assert.rejects(open("a"), /already has messages/);
    await open("a");
  });

  it("opens a chat again when another process has released its session", async () => {
    const store = createMemoryStore();
    const holder = await createSession(store, { id: "a" });
    const open = opener({ store, agents: makePayer });
    await assert.rejects(open("a"), { code: "session_locked" });
    await holder.close();
    await open("a");
  });

  it("lets the page decide about tools that need approval, and no others", async () => {
    const open = opener({ agents: makePayer });
    const chats = new ChatRuns();
    const first = await chunksOf(await chats.post(posted("Pay"), open));
    assert.ok(first.some(({ type }) => type === "tool-approval-request"));
    const second = await chunksOf(await chats.post(answered(first, true), open));
    const [output] = second.filter((chunk) => chunk.type === "tool-output-available");
    assert.equal(output?.output, "Paid Ann.");
    const free = { ...pay, needsApproval: undefined };
    const trusting = opener({ agents: () => agentOf([call, "Done."], { tools: [free] }) });
    const all = await chunksOf(await new ChatRuns().post(posted("Pay"), trusting));
    assert.ok(all.some(({ type }) => type === "tool-output-available"));
  });

  it("keeps the agent's own beforeToolCall", async () => {
    const beforeToolCall = () => ({ block: true, reason: "Closed." });
    const agents = () => agentOf([call, "Done."], { tools: [pay], beforeToolCall });
    const chats = new ChatRuns();
    await chunksOf(await chats.post(posted("Pay"), opener({ agents })));
    const { agent } = await opener({ agents })("a");
    assert.equal((agent as ReturnType<typeof agents>).beforeToolCall, beforeToolCall);
  });

  it("continues chats of a store in another process", async () => {
    const store = createMemoryStore();
    const before = opener({ store, agents: () => agentOf(["One."]) });
    await chunksOf(await new ChatRuns().post(posted("Hi"), before));
    const { session } = await before("chat");
    await (session as unknown as { session: AsyncDisposable }).session[Symbol.asyncDispose]();
    const after = opener({ store, agents: () => agentOf(["Two."]) });
    assert.equal((await new ChatRuns().messages("chat", after)).length, 2);
  });

  it("opens a chat again after its session could not be written", async () => {
    const disk = fillable();
    let made = 0;
    const agents = () => (made++, agentOf([`Answer ${made}.`]));
    const open = opener({ store: disk.store, agents });
    const chats = new ChatRuns();
    await open("chat");
    disk.isFull = true;
    const failed = await chunksOf(await chats.post(posted("Hi"), open));
    assert.ok(failed.some(({ type }) => type === "error"));
    disk.isFull = false;
    const chunks = await chunksOf(await chats.post(posted("Hi"), open));
    assert.ok(!chunks.some(({ type }) => type === "error"));
    assert.equal(made, 2);
  });

  it("refuses an agent that it already has, which would mix two chats, and unknown options", async () => {
    const agent = agentOf(["Hi."]);
    const open = opener({ agents: () => agent });
    await open("a");
    await assert.rejects(open("b"), { code: "invalid_state" });
    const more = { agents: () => agent, mayUse: () => true, stor: createMemoryStore() };
    assert.throws(() => openChats(more), /Did you mean "store"/);
  });
});

describe("mayUse", () => {
  it("is asked for each request, also of a chat that is open, and before it is opened", async () => {
    const opened: string[] = [];
    const asked: string[] = [];
    const open = openChats({
      agents: (chatId) => (opened.push(chatId), makePayer()),
      mayUse: (chatId, caller: string) => (asked.push(`${caller} ${chatId}`), caller === "Ann"),
    });
    const chats = new ChatRuns();
    const first = await chunksOf(await chats.post(posted("Pay"), open("Ann")));
    const no = { code: "permission_denied", status: 403 };
    await assert.rejects(chats.post(answered(first, true), open("Bob")), no);
    await assert.rejects(chats.resume("chat", open("Bob")), no);
    await assert.rejects(chats.messages("chat", open("Bob")), no);
    await assert.rejects(chats.stop("chat", open("Bob")), no);
    await assert.rejects(chats.messages("other", open("Bob")), no);
    assert.deepEqual(opened, ["chat"]);
    assert.equal(await chats.stop("chat", open("Ann")), true);
    assert.deepEqual(asked, [
      "Ann chat",
      "Bob chat",
      "Bob chat",
      "Bob chat",
      "Bob chat",
      "Bob other",
      "Ann chat",
    ]);
  });

  it("refuses with anything but true, and passes on what it throws", async () => {
    const agents = makePayer;
    for (const answer of [1, "true", undefined, Promise.resolve(false)]) {
      const mayUse = (): boolean => answer as unknown as boolean;
      await assert.rejects(async () => openChats({ agents, mayUse })(0)("a"), {
        code: "permission_denied",
      });
    }
    const mayUse = (): never => {
      throw new RangeError("Sign in.");
    };
    await assert.rejects(async () => openChats({ agents, mayUse })(0)("a"), RangeError);
  });

  it("must be given", () => {
    const options = { agents: makePayer } as unknown as OpenChatsOptions<undefined>;
    assert.throws(() => openChats(options), /"mayUse" of openChats takes a function/);
  });
});
