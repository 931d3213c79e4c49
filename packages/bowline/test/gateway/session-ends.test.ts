/**
 * The effects of the end of a session, a conversation or a request, and races between two requests.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { BowlineError } from "@bowline/core";
import { createMemoryStore, type Store } from "@bowline/core/session";
import { createJsonlStore } from "@bowline/core/session/node";
import { scriptedToolCall } from "@bowline/core/testing";
import { handlers, type Caller, type DoorContext } from "../../src/gateway/server/methods.ts";
import {
  createMemoryPending,
  type Pending,
  type PendingName,
} from "../../src/gateway/runs/pending.ts";
import { loadRules, type Rules } from "../../src/policy/rules.ts";
import { temporary } from "../command.ts";
import { heldTool } from "../held-tool.ts";
import { gatewayWith } from "./gateway.ts";

const call = { content: [scriptedToolCall("wait", {}, "w")] };

describe("a reset session", () => {
  it("keeps nothing of the old conversation, whether its run was active or had ended", async () => {
    for (const isOver of [false, true]) {
      const pending = createMemoryPending();
      await using server = await gatewayWith([call, "Anew."], {
        pending,
        tools: () => [heldTool().tool],
      });
      const client = await server.client();
      await client.call("chat.send", {
        sessionKey: "s",
        message: "Begin",
        idempotencyKey: "first",
      });
      await client.event("exec.approval_request");
      await client.call("chat.steer", { sessionKey: "s", message: "Left" });
      if (isOver) {
        await client.call("chat.abort", { sessionKey: "s" });
        await client.end("first");
        await client.until(({ data }) => data?.change === "updated");
      }
      await client.call("sessions.reset", { sessionKey: "s" });
      assert.deepEqual((await client.call("chat.history", { sessionKey: "s" })).waiting, []);
      assert.deepEqual(await pending.list(), []);
      await client.call("chat.send", { sessionKey: "s", message: "Next", idempotencyKey: "next" });
      await client.end("next");
      const said = server.model.calls.at(-1)?.context.messages.map(({ content }) => content);
      assert.deepEqual(said, ["Next"]);
    }
  });

  it("keeps a model chosen while its run was ending", async () => {
    const gone = Promise.withResolvers<void>();
    const kept = createMemoryPending();
    const pending = {
      ...kept,
      remove: (name: PendingName) => gone.promise.then(() => kept.remove(name)),
    };
    await using server = await gatewayWith([call], { pending, tools: () => [heldTool().tool] });
    const client = await server.client();
    await client.call("sessions.create", { sessionKey: "s" });
    await client.call("sessions.patch", { sessionKey: "s", model: "scripted/good" });
    await client.call("chat.send", { sessionKey: "s", message: "Begin", idempotencyKey: "first" });
    await client.event("exec.approval_request");
    const resetting = client.call("sessions.reset", { sessionKey: "s" });
    await client.end("first");
    await client.call("sessions.patch", {
      sessionKey: "s",
      model: "scripted/better",
      title: "Better",
    });
    gone.resolve();
    const { session } = await resetting;
    assert.deepEqual([session.model, session.title], ["scripted/better", "Better"]);
  });
});

describe("a deleted session", () => {
  it("removes the approvals of the session, and nothing else", async () => {
    const rules = await loadRules([{ action: "allow", tool: "look", sessionKey: "s" }]);
    await rules.add({ action: "allow", tool: "bash", pattern: "ls", sessionKey: "s" });
    await rules.add({ action: "allow", tool: "bash", pattern: "ls", sessionKey: "t" });
    await rules.add({ action: "allow", tool: "bash", pattern: "pwd" });
    await rules.add({ action: "deny", tool: "write", sessionKey: "s" });
    await using server = await gatewayWith(["Hi."], { rules });
    const client = await server.client();
    await client.end((await client.call("chat.send", { sessionKey: "s", message: "Hi" })).runId);
    await client.call("sessions.delete", { sessionKey: "s" });
    const actions = (
      [
        ["bash", { command: "ls" }, "s"],
        ["bash", { command: "ls" }, "t"],
        ["bash", { command: "pwd" }, "s"],
        ["write", { path: "x" }, "s"],
        ["look", {}, "s"],
      ] as const
    ).map(([tool, args, sessionKey]) => rules.judge({ tool, args, sessionKey }).action);
    assert.deepEqual(actions, ["ask", "allow", "allow", "deny", "allow"]);
  });
});

it("two clients that create the same session at the same time: one gets a conflict", async () => {
  await using home = await temporary();
  const store = createJsonlStore(home.path);
  await using server = await gatewayWith([call], { store, tools: () => [heldTool().tool] });
  const client = await server.client();
  const made = await Promise.allSettled(
    ["One", "Two"].map((title) => client.call("sessions.create", { sessionKey: "s", title })),
  );
  assert.deepEqual(made.map(({ status }) => status).toSorted(), ["fulfilled", "rejected"]);
  await client.call("chat.send", { sessionKey: "goes on", message: "Hi", idempotencyKey: "run" });
  await client.event("exec.approval_request", "run");
  for (const sessionKey of ["s", "goes on"])
    assert.equal(await client.refused("sessions.create", { sessionKey }), "conflict");
});

it("a message that came too late for its run, and is refused as a new one, is not stored", async () => {
  const kept = createMemoryPending();
  const [reached, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const pending: Pending = {
    ...kept,
    async add(message) {
      if (message.text === "Late" && message.kind === "send")
        throw new BowlineError("storage_failed", "No room.");
      await kept.add(message);
      if (message.kind !== "steer") return;
      reached.resolve();
      await goOn.promise;
    },
  };
  const { tool, release } = heldTool();
  const rules: Rules = { judge: () => ({ action: "allow" }), add: async () => {} };
  await using server = await gatewayWith([call, "Done."], { pending, tools: () => [tool], rules });
  const client = await server.client();
  await client.call("chat.send", { sessionKey: "s", message: "Begin", idempotencyKey: "first" });
  await client.event("chat.tool_call");
  const refused = client.refused("chat.steer", { sessionKey: "s", message: "Late" });
  await reached.promise;
  release();
  await client.end("first");
  goOn.resolve();
  assert.equal(await refused, "storage_failed");
  assert.ok((await kept.list()).every(({ text }) => text !== "Late"));
});

it("a session is unsubscribed after the answer, so that earlier answers stay valid", async () => {
  const left: string[] = [];
  const caller = {
    unsubscribe: (sessionKey: string) => left.push(sessionKey),
  } as unknown as Caller;
  const { after } = await handlers["chat.unsubscribe"](
    {} as DoorContext,
    { sessionKey: "s" },
    caller,
  );
  assert.deepEqual(left, []);
  after?.();
  assert.deepEqual(left, ["s"]);
});

describe("a fork", () => {
  it("is complete before the first message under its key begins a run", async () => {
    const memory = createMemoryStore();
    let meanwhile = async (): Promise<void> => {};
    const create: Store["create"] = async (...given) => {
      const writer = await memory.create(...given);
      if (given[0].id === "fork") await meanwhile();
      return writer;
    };
    await using server = await gatewayWith(["One.", "Two."], { store: { ...memory, create } });
    const client = await server.client();
    await client.call("chat.send", { sessionKey: "s", message: "Begin", idempotencyKey: "first" });
    await client.end("first");
    meanwhile = async () => {
      const { status } = await client.call("chat.send", {
        sessionKey: "fork",
        message: "Hi",
        idempotencyKey: "hi",
      });
      assert.equal(status, "started");
      await client.call("health.check", {}); // gives the run time to meet a locked session
    };
    await client.call("sessions.fork", { sessionKey: "s", newSessionKey: "fork" });
    assert.equal((await client.end("hi")).event, "chat.final");
    assert.equal((await client.call("chat.history", { sessionKey: "fork" })).messages.length, 4);
  });

  it("and a fork in the opposite direction do not deadlock", async () => {
    await using server = await gatewayWith([]);
    const client = await server.client();
    for (const sessionKey of ["a", "b"]) await client.call("sessions.create", { sessionKey });
    const both = [
      client.refused("sessions.fork", { sessionKey: "a", newSessionKey: "b" }),
      client.refused("sessions.fork", { sessionKey: "b", newSessionKey: "a" }),
    ];
    assert.deepEqual(await Promise.all(both), ["invalid_state", "invalid_state"]); // both sessions exist
  });
});
