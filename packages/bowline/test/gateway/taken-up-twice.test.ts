/** Messages that several servers handled, one after the other. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createMemoryStore, createSession, openSession } from "@bowline/core/session";
import { createScriptedModel } from "@bowline/core/testing";
import { createMemoryPending, type PendingMessage } from "../../src/gateway/runs/pending.ts";
import { gatewayWith } from "./gateway.ts";

const steered: PendingMessage = {
  id: "late",
  kind: "steer",
  sessionKey: "s",
  agentId: "assistant",
  text: "And then?",
  timestamp: 10,
};
const model = { provider: "scripted", model: "scripted" };
const slow = { delayMs: 5 };

describe("a message that came too late for its run, on a server that is killed", () => {
  it("becomes a run that is resumed, however often the server stops", async () => {
    const [store, pending] = [createMemoryStore(), createMemoryPending()];
    const session = await createSession(store, { id: "s" });
    await session.append({ type: "run_start", runId: "first", model });
    await session.append({
      type: "message",
      runId: "first",
      message: { role: "user", content: "go", timestamp: 1 },
    });
    await session.append({ type: "run_end", runId: "first", reason: "done" });
    await session.close();
    await pending.add(steered);
    const second = await gatewayWith(["word ".repeat(2000)], { store, pending, pace: slow });
    const before = await second.client();
    await before.call("chat.subscribe", { sessionKey: "s", runId: "late" });
    await before.until(({ event, data }) => event === "chat.delta" && data?.runId === "late");
    await second[Symbol.asyncDispose]();
    await using third = await gatewayWith(["Then nothing."], { store, pending });
    const client = await third.client();
    const { runs } = await client.call("chat.subscribe", { sessionKey: "s", runId: "late" });
    assert.notEqual(runs[0]?.state, "interrupted");
    assert.equal((await client.end("late")).event, "chat.final");
  });

  it("is held for the next message when its run was stopped, also across a kill as the next begins", async () => {
    const [store, pending] = [createMemoryStore(), createMemoryPending()];
    const session = await createSession(store, { id: "s" });
    await session.append({ type: "run_start", runId: "first", model });
    await session.append({
      type: "message",
      runId: "first",
      message: { role: "user", content: "go", timestamp: 1 },
    });
    const end = { type: "run_end", runId: "first", reason: "aborted" } as const;
    await session.append(end);
    await session.close();
    await pending.add({ ...steered, timestamp: 1 });
    await (await gatewayWith([], { store, pending }))[Symbol.asyncDispose]();
    const next: PendingMessage = {
      ...steered,
      id: "next",
      kind: "send",
      text: "Next",
      timestamp: 20,
    };
    await pending.add(next);
    const begun = await openSession(store, "s");
    await begun.append({ type: "run_start", runId: "next", model });
    await begun.close();
    await using server = await gatewayWith(["Yes."], { store, pending });
    const client = await server.client();
    await client.call("chat.subscribe", { sessionKey: "s", runId: "next", seq: 1 });
    await client.end("next");
    assert.deepEqual(
      server.model.calls.map(({ context }) => context.messages.map(({ content }) => content)),
      [["go", "And then?", "Next"]],
    );
  });
});

describe("an idempotency key used on an earlier server", () => {
  it("is refused in another session", async () => {
    const pending = createMemoryPending();
    await pending.add({ ...steered, id: "key", kind: "send" });
    await using server = await gatewayWith(["word ".repeat(2000)], { pending, pace: slow });
    const client = await server.client();
    const other = { sessionKey: "other", message: "Another", idempotencyKey: "key" };
    assert.equal(await client.refused("chat.send", other), "conflict");
  });

  it("is answered with the run that took its message, also when the server was killed before recording it", async () => {
    const [store, pending] = [createMemoryStore(), createMemoryPending()];
    const session = await createSession(store, { id: "s" });
    await session.append({ type: "run_start", runId: "first", model });
    const message = {
      role: "user",
      content: steered.text,
      timestamp: steered.timestamp,
      messageId: "late",
    };
    await session.append({ type: "message", runId: "first", message });
    await session.append({ type: "run_end", runId: "first", reason: "done" });
    await session.close();
    await pending.add(steered);
    await using server = await gatewayWith([], { store, pending });
    const client = await server.client();
    const again = { sessionKey: "s", message: steered.text, idempotencyKey: "late" };
    assert.deepEqual(await client.call("chat.steer", again), {
      runId: "first",
      sessionKey: "s",
      status: "finished",
    });
    await client.call("chat.subscribe", { sessionKey: "s", runId: "first" });
    const { blocks } = await client.event("chat.snapshot", "first");
    assert.deepEqual(blocks, [{ type: "user", text: steered.text, messageId: "late" }]); // the id by which its sender recognises it
    assert.deepEqual(await pending.list(), []);
  });
});

it("resumed runs use the agent that was chosen while they ran or waited", async () => {
  const [store, pending] = [createMemoryStore(), createMemoryPending()];
  const agents = ["assistant", "other"].map((id) => ({
    id,
    model: `scripted/${id}`,
    description: "",
  }));
  const first = await gatewayWith(["word ".repeat(2000)], {
    store,
    pending,
    agents: () => agents,
    pace: slow,
  });
  const before = await first.client();
  for (const idempotencyKey of ["goes on", "waits"])
    await before.call("chat.send", { sessionKey: "s", message: "go", idempotencyKey });
  await before.event("chat.delta", "goes on");
  await before.call("sessions.patch", { sessionKey: "s", agentId: "other" });
  await first[Symbol.asyncDispose]();
  const asked: string[] = [];
  const scripted = createScriptedModel(["One.", "Two."]);
  await using second = await gatewayWith([], {
    store,
    pending,
    agents: () => agents,
    backendFor: ({ id }) => ({
      model: { ...scripted.model, id },
      streamFn: (...call) => (asked.push(call[0].id), scripted.streamFn(...call)),
      isPractice: false,
    }),
  });
  const client = await second.client();
  await client.call("chat.subscribe", { sessionKey: "s", runId: "waits", seq: -1 });
  await client.end("waits");
  assert.deepEqual(asked, ["other", "other"]);
});
