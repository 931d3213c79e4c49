import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { BowlineError, type UserMessage } from "@bowline/core";
import { createMemoryStore, type Store } from "@bowline/core/session";
import { createScriptedModel, scriptedToolCall } from "@bowline/core/testing";
import { heldTool } from "../held-tool.ts";
import { createMemoryPending, type Pending } from "../../src/gateway/runs/pending.ts";
import { gatewayWith, wait, type TestClient, type TestOptions } from "./gateway.ts";
import { withAppend } from "../../../../test/support/with-append.ts";

const allow: TestOptions["rules"] = { judge: () => ({ action: "allow" }), add: async () => {} };
const data = Buffer.alloc(40).toString("base64");
const image = { mimeType: "image/png", bytes: 40 };
const call = { content: [scriptedToolCall("wait", {}, "w")] };

const kindsOf = async (client: TestClient): Promise<string[]> => {
  const { waiting } = await client.call("chat.history", { sessionKey: "s" });
  return waiting.map(({ messageId, kind }) => `${messageId} ${kind}`);
};

describe("a waiting message", () => {
  it("is announced to every subscriber with its images, and is in the history until a run takes it", async () => {
    const { tool, release } = heldTool();
    await using server = await gatewayWith([call, "Done.", "And now this."], {
      tools: () => [tool],
      rules: allow,
    });
    const [one, two] = [await server.client(), await server.client()];
    await two.call("chat.subscribe", { sessionKey: "s" });
    await one.call("chat.send", { sessionKey: "s", message: "Begin", idempotencyKey: "first" });
    await two.event("chat.tool_call");
    assert.deepEqual(await kindsOf(two), []);
    const attachments = [{ mimeType: "image/png", data } as const];
    await one.call("chat.send", {
      sessionKey: "s",
      message: "Then",
      idempotencyKey: "then",
      attachments,
    });
    await one.call("chat.steer", { sessionKey: "s", message: "Look here", idempotencyKey: "look" });
    await one.call("chat.followUp", {
      sessionKey: "s",
      message: "And there",
      idempotencyKey: "there",
    });
    const told = async (runId: string, messageId: string): Promise<Record<string, unknown>> => {
      const frame = await two.until(
        (f) => f.event === "chat.queued" && f.data?.messageId === messageId,
      );
      assert.equal(frame.data?.runId, runId);
      return frame.data ?? {};
    };
    const { seq, kind, text, images } = await told("then", "then");
    assert.deepEqual(
      [seq, kind, text, images],
      [0, "send", "Then", [image]],
      "the first that its own run says",
    );
    assert.equal((await told("first", "look")).kind, "steer");
    assert.equal((await told("first", "there")).kind, "followUp");
    assert.deepEqual(await kindsOf(two), ["look steer", "there followUp", "then send"]);
    release();
    await two.end("then");
    assert.deepEqual(await kindsOf(two), []);
    const users = two.frames
      .filter(({ event }) => event === "chat.user")
      .map(({ data: said }) => said);
    assert.deepEqual(
      users.map((user) => [user?.messageId, user?.text, user?.images]),
      [
        ["first", "Begin", undefined],
        ["look", "Look here", undefined],
        ["there", "And there", undefined],
        ["then", "Then", [image]],
      ],
    );
    const { messages } = await two.call("chat.history", { sessionKey: "s" });
    assert.deepEqual(
      messages.flatMap(({ message }) =>
        message.role === "user" ? [(message as { messageId?: string }).messageId] : [],
      ),
      [undefined, "look", "there", undefined],
      "the ids of those that joined a run",
    );
    const numbers = two.ofRun("then").map(({ data: of }) => of?.seq);
    assert.deepEqual(
      numbers,
      numbers.map((_, index) => index),
    );
  });

  it("is announced after the sender's answer, and not at all when its run begins at once", async () => {
    await using server = await gatewayWith(["One.", "Two."], { pace: { delayMs: 20 } });
    const client = await server.client();
    const sent = ["a", "b"].map((idempotencyKey) =>
      client.call("chat.send", { sessionKey: "s", message: "Hi", idempotencyKey }),
    );
    await Promise.all(sent);
    await client.end("b");
    const queued = client.frames.filter(({ event }) => event === "chat.queued");
    assert.deepEqual(
      queued.map(({ data: of }) => of?.runId),
      ["b"],
    );
    const answered = client.frames.findIndex(
      ({ result }) => (result as { runId?: string } | undefined)?.runId === "b",
    );
    assert.ok(answered < client.frames.indexOf(queued[0] as (typeof queued)[number]));
  });

  it("is held for the next message when the run is stopped, and is removed when withdrawn", async () => {
    const { tool } = heldTool();
    await using server = await gatewayWith([call, "Heard."], { tools: () => [tool], rules: allow });
    const client = await server.client();
    await client.call("chat.send", { sessionKey: "s", message: "Begin", idempotencyKey: "first" });
    await client.event("chat.tool_call");
    await client.call("chat.send", { sessionKey: "s", message: "Never", idempotencyKey: "never" });
    await client.call("chat.steer", { sessionKey: "s", message: "But so", idempotencyKey: "so" });
    await client.call("chat.abort", { sessionKey: "s", runId: "never" });
    assert.deepEqual(await kindsOf(client), ["so steer"]);
    await client.call("chat.abort", { sessionKey: "s", runId: "first" });
    await client.end("first");
    while ((await client.call("health.check", {})).runs > 0);
    assert.deepEqual(await kindsOf(client), ["so held"]);
    await client.call("chat.send", { sessionKey: "s", message: "Next", idempotencyKey: "next" });
    await client.end("next");
    assert.deepEqual(await kindsOf(client), []);
  });

  it("is refused when the run already has the maximum number of waiting messages", async () => {
    const { tool, release } = heldTool();
    await using server = await gatewayWith([call, "Done."], {
      tools: () => [tool],
      rules: allow,
      limits: { maxQueuedRuns: 2 },
    });
    const client = await server.client();
    await client.call("chat.send", { sessionKey: "s", message: "Begin", idempotencyKey: "first" });
    await client.event("chat.tool_call");
    await client.call("chat.steer", { sessionKey: "s", message: "One", idempotencyKey: "one" });
    await client.call("chat.followUp", { sessionKey: "s", message: "Two", idempotencyKey: "two" });
    for (const method of ["chat.steer", "chat.followUp"] as const)
      assert.equal(await client.refused(method, { sessionKey: "s", message: "Three" }), "busy");
    await client.call("chat.send", { sessionKey: "s", message: "Next", idempotencyKey: "next" });
    assert.deepEqual(await kindsOf(client), ["one steer", "two followUp", "next send"]);
    release();
    await client.end("first");
  });

  it("still waits when its session could not be written", async () => {
    const { tool } = heldTool();
    let isFull = false;
    const store = withAppend(createMemoryStore(), async (append, entries) => {
      if (isFull) throw new BowlineError("storage_failed", "There is no room left.");
      await append(entries);
    });
    const [script, pending] = [[call, "Heard."], createMemoryPending()];
    await using server = await gatewayWith(script, {
      store,
      pending,
      tools: () => [tool],
      rules: allow,
    });
    const client = await server.client();
    await client.call("chat.send", { sessionKey: "s", message: "Begin", idempotencyKey: "first" });
    await client.event("chat.tool_call");
    await client.call("chat.steer", { sessionKey: "s", message: "But so", idempotencyKey: "so" });
    await client.call("chat.abort", { sessionKey: "s", runId: "first" });
    await client.end("first");
    while ((await client.call("health.check", {})).runs > 0);
    isFull = true;
    await client.call("chat.send", { sessionKey: "s", message: "Next", idempotencyKey: "next" });
    assert.equal((await client.end("next")).event, "chat.error");
    while ((await client.call("health.check", {})).runs > 0);
    assert.deepEqual(await kindsOf(client), ["so held", "next held"]);
    assert.deepEqual(
      (await pending.list()).map(({ id }) => id),
      ["so", "next"],
    );
    isFull = false;
    await client.call("chat.send", { sessionKey: "s", message: "Now", idempotencyKey: "now" });
    await client.end("now");
    const { messages } = await client.call("chat.history", { sessionKey: "s" });
    const said = messages.flatMap(({ message }) =>
      message.role === "user" ? [(message as UserMessage).content] : [],
    );
    assert.deepEqual(said, ["Begin", "But so", "Next", "Now"]);
    assert.deepEqual(await kindsOf(client), []);
  });

  it("still waits after a restart, with its sequence numbers continued", async () => {
    const [store, pending] = [createMemoryStore(), createMemoryPending()];
    const { tool } = heldTool();
    const first = await gatewayWith([call], { store, pending, tools: () => [tool], rules: allow });
    const before = await first.client();
    await before.call("chat.send", { sessionKey: "s", message: "Begin", idempotencyKey: "first" });
    await before.event("chat.tool_call");
    await before.call("chat.send", { sessionKey: "s", message: "Then", idempotencyKey: "then" });
    await before.call("chat.steer", { sessionKey: "s", message: "Look", idempotencyKey: "look" });
    const { seq } = await before.event("chat.queued", "then");
    await first.gateway.close();
    const looked = Promise.withResolvers<void>();
    const model = createScriptedModel([() => looked.promise.then(() => "Gone on."), "Then."]);
    await using second = await gatewayWith([], {
      store,
      pending,
      rules: allow,
      backendFor: () => ({ model: model.model, streamFn: model.streamFn, isPractice: false }),
    });
    const after = await second.client();
    const waiting = await kindsOf(after);
    assert.ok(waiting.includes("then send"), waiting.join());
    await after.call("chat.subscribe", { sessionKey: "s", runId: "then", seq });
    looked.resolve();
    await after.end("then");
    assert.deepEqual(await kindsOf(after), []);
    const numbers = after.ofRun("then").map(({ data: of }) => of?.seq);
    assert.equal(numbers[0], seq + 1, "nothing twice, and nothing left out");
  });
});

describe("an accepted message is in the history", () => {
  it("by the time that the end of its run is reported", async () => {
    const { tool } = heldTool();
    const kept = createMemoryPending();
    const pending: Pending = { ...kept, add: (message) => wait(20).then(() => kept.add(message)) };
    await using server = await gatewayWith([call], { pending, tools: () => [tool], rules: allow });
    const client = await server.client();
    await client.call("chat.send", { sessionKey: "s", message: "Begin", idempotencyKey: "first" });
    await client.event("chat.tool_call");
    await client.call("chat.steer", { sessionKey: "s", message: "One", idempotencyKey: "one" });
    await client.call("chat.followUp", { sessionKey: "s", message: "Two", idempotencyKey: "two" });
    await client.call("chat.abort", { sessionKey: "s" });
    await client.end("first");
    do assert.deepEqual(await kindsOf(client), ["one held", "two held"]);
    while ((await client.call("health.check", {})).runs > 0);
    assert.deepEqual(await kindsOf(client), ["one held", "two held"]);
  });

  it("when its run has begun with held messages, and none is in the transcript yet", async () => {
    const { tool } = heldTool();
    let begin = (): void => {};
    let isSlow = false;
    const begun = new Promise<void>((resolve) => (begin = resolve));
    await using server = await gatewayWith([call, "Heard."], {
      tools: () => [tool],
      rules: allow,
      systemPrompt: () => (isSlow ? begun.then(() => "Slow.") : "Fast."),
    });
    const client = await server.client();
    await client.call("chat.send", { sessionKey: "s", message: "Begin", idempotencyKey: "first" });
    await client.event("chat.tool_call");
    await client.call("chat.steer", { sessionKey: "s", message: "But so", idempotencyKey: "so" });
    await client.call("chat.abort", { sessionKey: "s" });
    await client.end("first");
    while ((await client.call("health.check", {})).runs > 0);
    isSlow = true;
    await client.call("chat.send", { sessionKey: "s", message: "Next", idempotencyKey: "next" });
    assert.deepEqual(await kindsOf(client), ["so held", "next send"]);
    await client.call("chat.steer", { sessionKey: "s", message: "Too", idempotencyKey: "too" });
    assert.deepEqual(await kindsOf(client), ["so held", "next send", "too steer"]);
    begin();
    await client.end("next");
    assert.deepEqual(await kindsOf(client), []);
  });

  it("when a run takes it while the history is being read", async () => {
    const memory = createMemoryStore();
    let meanwhile: (() => Promise<unknown>) | undefined;
    const store: Store = {
      ...memory,
      async *read(...asked) {
        try {
          yield* memory.read(...asked);
        } finally {
          const once = meanwhile;
          meanwhile = undefined;
          await once?.();
        }
      },
    };
    const { tool, release } = heldTool();
    await using server = await gatewayWith([call, "Heard."], {
      store,
      tools: () => [tool],
      rules: allow,
    });
    const [client, other] = [await server.client(), await server.client()];
    await client.call("chat.send", { sessionKey: "s", message: "Begin", idempotencyKey: "first" });
    await client.event("chat.tool_call");
    await client.call("chat.steer", { sessionKey: "s", message: "But so", idempotencyKey: "so" });
    meanwhile = () => {
      release();
      return client.end("first");
    };
    const { messages, waiting } = await other.call("chat.history", { sessionKey: "s" });
    assert.deepEqual(waiting, []);
    assert.ok(JSON.stringify(messages).includes("But so"));
  });

  it("when its run was resumed by the next server and is queued there", async () => {
    const [store, pending] = [createMemoryStore(), createMemoryPending()];
    const { tool } = heldTool();
    const options: TestOptions = { store, pending, tools: () => [tool], rules: allow };
    const first = await gatewayWith([call, call], options);
    const before = await first.client();
    for (const sessionKey of ["other", "s"]) {
      await before.call("chat.send", { sessionKey, message: "Begin", idempotencyKey: sessionKey });
      await before.event("chat.tool_call", sessionKey);
    }
    await before.call("chat.steer", { sessionKey: "s", message: "But so", idempotencyKey: "so" });
    await first.gateway.close();
    await using second = await gatewayWith([call, "Heard."], {
      ...options,
      limits: { maxRuns: 1 },
    });
    assert.deepEqual(await kindsOf(await second.client()), ["so steer"]);
  });
});

describe("a snapshot", () => {
  it("contains the images of messages, also for a run read from its session", async () => {
    const store = createMemoryStore();
    const attachments = [{ mimeType: "image/png", data } as const];
    const blocksOf = async (client: TestClient): Promise<unknown[]> => {
      await client.call("chat.subscribe", { sessionKey: "s", runId: "r" });
      return (await client.event("chat.snapshot", "r")).blocks.map((block) =>
        block.type === "user" ? block : block.type,
      );
    };
    const first = await gatewayWith(["Seen."], { store });
    const client = await first.client();
    await client.call("chat.send", {
      sessionKey: "s",
      message: "Look",
      idempotencyKey: "r",
      attachments,
    });
    await client.end("r");
    const user = { type: "user", text: "Look", images: [image] };
    assert.deepEqual(await blocksOf(await first.client()), [{ ...user, messageId: "r" }, "text"]);
    client.socket.terminate();
    await first.gateway.close();
    await using second = await gatewayWith([], { store });
    assert.deepEqual(await blocksOf(await second.client()), [user, "text"]);
  });
});
