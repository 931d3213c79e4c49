/**
 * Messages for a running run that a client resends with the same key because it lost the response.
 * Some reach the next server.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createMemoryStore } from "@bowline/core/session";
import { scriptedToolCall } from "@bowline/core/testing";
import { withAppend } from "../../../../test/support/with-append.ts";
import { createHash } from "node:crypto";
import { readdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { createMemoryPending, createPendingFolder } from "../../src/gateway/runs/pending.ts";
import { temporary } from "../command.ts";
import { heldTool } from "../held-tool.ts";
import { gatewayWith, type TestClient, type TestOptions } from "./gateway.ts";

const allow: TestOptions["rules"] = { judge: () => ({ action: "allow" }), add: async () => {} };
const call = { content: [scriptedToolCall("wait", {}, "w")] };
const so = { sessionKey: "s", message: "But so", idempotencyKey: "so" };

async function usersOf(client: TestClient): Promise<unknown[]> {
  const { messages } = await client.call("chat.history", { sessionKey: "s" });
  return messages.flatMap(({ message }) =>
    message.role === "user" ? [(message as { content?: unknown }).content] : [],
  );
}

describe("a message into a run that is sent twice", () => {
  it("is taken once while it waits, also when its key was evicted", async () => {
    const { tool, release } = heldTool();
    const limits = { maxEnded: 1 };
    const script = [call, "Else.", "Else.", "Done.", "More."];
    await using server = await gatewayWith(script, { tools: () => [tool], rules: allow, limits });
    const client = await server.client();
    await client.call("chat.send", { sessionKey: "s", message: "Begin", idempotencyKey: "first" });
    await client.event("chat.tool_call");
    await client.call("chat.followUp", so);
    for (const idempotencyKey of ["x", "y"]) {
      await client.call("chat.send", { sessionKey: "other", message: "Hi", idempotencyKey });
      await client.end(idempotencyKey);
    }
    const again = await client.call("chat.followUp", so);
    assert.deepEqual(again, { runId: "first", sessionKey: "s", status: "in_flight" });
    release();
    await client.end("first");
    assert.deepEqual(await usersOf(client), ["Begin", "But so"]);
  });

  for (const isHeld of [false, true]) {
    it(`and the second time to the next server is taken once, when it ${isHeld ? "is held" : "was used"}`, async () => {
      const [store, pending] = [createMemoryStore(), createMemoryPending()];
      const { tool, release } = heldTool();
      const options: TestOptions = { store, pending, tools: () => [tool], rules: allow };
      const first = await gatewayWith([call, "Done."], options);
      const before = await first.client();
      await before.call("chat.send", {
        sessionKey: "s",
        message: "Begin",
        idempotencyKey: "first",
      });
      await before.event("chat.tool_call");
      await before.call("chat.steer", so);
      if (isHeld) await before.call("chat.abort", { sessionKey: "s" });
      else release();
      await before.end("first");
      while ((await before.call("health.check", {})).runs > 0);
      await first.gateway.close();
      await using second = await gatewayWith(["Next."], options);
      const client = await second.client();
      const { status, runId } = await client.call("chat.steer", so);
      assert.deepEqual([status, runId], isHeld ? ["waiting", "so"] : ["finished", "first"]);
      await client.call("chat.send", { sessionKey: "s", message: "Next", idempotencyKey: "next" });
      await client.end("next");
      assert.deepEqual(await usersOf(client), ["Begin", "But so", "Next"]);
    });
  }

  it("waits for another run, when its own was stopped before it went in", async () => {
    const { tool } = heldTool();
    const options: TestOptions = { tools: () => [tool], rules: allow };
    await using server = await gatewayWith([call, "Next."], options);
    const client = await server.client();
    await client.call("chat.send", { sessionKey: "s", message: "Begin", idempotencyKey: "first" });
    await client.event("chat.tool_call");
    await client.call("chat.steer", so);
    await client.call("chat.abort", { sessionKey: "s" });
    await client.end("first");
    while ((await client.call("health.check", {})).runs > 0);
    const again = await client.call("chat.steer", so);
    assert.deepEqual(again, { runId: "so", sessionKey: "s", status: "waiting" });
    await client.call("chat.send", { sessionKey: "s", message: "Next", idempotencyKey: "next" });
    await client.end("next");
    const later = await client.call("chat.steer", so);
    assert.notEqual(later.status, "waiting");
  });

  it("is answered with the run that it began, when it was too late to join the other", async () => {
    let late: (() => Promise<unknown>) | undefined;
    // The run has its whole answer, but its log does not yet.
    const store = withAppend(createMemoryStore(), async (append, entries) => {
      if (entries.some(({ type }) => type === "run_end")) await late?.();
      await append(entries);
    });
    await using server = await gatewayWith(["Done.", call], {
      store,
      tools: () => [heldTool().tool],
      rules: allow,
    });
    const client = await server.client();
    late = () => client.call("chat.followUp", so);
    await client.call("chat.send", { sessionKey: "s", message: "Begin", idempotencyKey: "first" });
    assert.equal((await client.end("first")).event, "chat.final");
    await client.event("chat.tool_call", "so");
    const again = await client.call("chat.followUp", so);
    assert.deepEqual(again, { runId: "so", sessionKey: "s", status: "in_flight" });
  });
});

describe("a held message", () => {
  it("is not lost when another session uses the same key", async () => {
    await using home = await temporary();
    const pending = createPendingFolder(join(home.path, "pending"));
    const store = createMemoryStore();
    const { tool } = heldTool();
    const limits = { maxEnded: 1 };
    const script = [call, "Else.", "Else.", "Other.", "Next."];
    const options = { store, pending, tools: () => [tool], rules: allow, limits };
    {
      await using server = await gatewayWith(script, options);
      const client = await server.client();
      await client.call("chat.send", { sessionKey: "s", message: "Go", idempotencyKey: "first" });
      await client.event("chat.tool_call");
      await client.call("chat.steer", so);
      await client.call("chat.abort", { sessionKey: "s" });
      await client.end("first");
      for (const idempotencyKey of ["x", "y", "so"]) {
        const other = { sessionKey: "other", message: "Hi", idempotencyKey };
        assert.equal((await client.call("chat.send", other)).status, "started");
        await client.end(idempotencyKey);
      }
    }
    await using server = await gatewayWith(["Next."], options);
    const client = await server.client();
    const { waiting } = await client.call("chat.history", { sessionKey: "s" });
    assert.deepEqual(
      waiting.map(({ messageId, kind }) => [messageId, kind]),
      [["so", "held"]],
    );
    await client.call("chat.send", { sessionKey: "s", message: "Next", idempotencyKey: "next" });
    await client.end("next");
    assert.deepEqual(await usersOf(client), ["Go", "But so", "Next"]);
    while ((await client.call("health.check", {})).runs > 0);
    assert.deepEqual(await pending.list(), []);
  });

  it("is found under the file name of an earlier version, and its file is removed", async () => {
    await using home = await temporary();
    const pending = createPendingFolder(home.path);
    const message = { sessionKey: "s", id: "old", kind: "held", agentId: "a", text: "x" } as const;
    await pending.add({ ...message, timestamp: 1 });
    const old = createHash("sha256").update(JSON.stringify("old")).digest("hex");
    const [name = ""] = await readdir(home.path);
    await rename(join(home.path, name), join(home.path, `${old}.json`));
    assert.deepEqual(
      (await pending.list()).map(({ id }) => id),
      ["old"],
    );
    await pending.remove(message);
    assert.deepEqual(await readdir(home.path), []);
  });
});
