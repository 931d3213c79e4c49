import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { WebSocket } from "ws";
import { messageText } from "@bowline/core";
import { createMemoryStore } from "@bowline/core/session";
import { scriptedToolCall } from "@bowline/core/testing";
import { withAppend } from "../../../../test/support/with-append.ts";
import { GatewayClient } from "../../src/gateway/client/client.ts";
import type { HistoryMessage } from "../../src/gateway/protocol/history-message.ts";
import { createMemoryPending, type Pending } from "../../src/gateway/runs/pending.ts";
import { heldTool } from "../held-tool.ts";
import { gatewayWith, token, type TestOptions } from "./gateway.ts";

const call = { content: [scriptedToolCall("wait", {}, "w")] };

describe("sessions", () => {
  // Requirements: J37, X25
  it("are created by their first message under any key, and listed latest first", async () => {
    await using server = await gatewayWith(["One.", "Two."]);
    const client = await server.client();
    for (const sessionKey of ["../etc/passwd\n", '🪢 {"a":1}']) {
      const { runId } = await client.call("chat.send", {
        sessionKey,
        message: `Hello from ${sessionKey}`,
      });
      await client.end(runId);
    }
    const { sessions } = await client.call("sessions.list", {});
    assert.deepEqual(
      sessions.map(({ sessionKey }) => sessionKey).toSorted(),
      ["../etc/passwd\n", '🪢 {"a":1}'].toSorted(),
    );
    assert.deepEqual([sessions[0]?.messageCount, sessions[0]?.agentId], [2, "assistant"]);
    const found = await client.call("sessions.list", { search: "passwd" });
    assert.equal(found.sessions.length, 1);
  });

  it("are created, renamed, forked, reset and deleted, and every client is notified", async () => {
    await using server = await gatewayWith(["One.", "Two.", "Three."]);
    const [client, other] = [await server.client(), await server.client()];
    const { session } = await client.call("sessions.create", { title: "First" });
    const { sessionKey } = session;
    assert.match(sessionKey, /^[0-9a-f-]{36}$/);
    assert.equal(await client.refused("sessions.create", { sessionKey }), "conflict");
    assert.equal(session.title, "First");
    await client.end((await client.call("chat.send", { sessionKey, message: "a" })).runId);
    assert.equal(
      (await client.call("sessions.patch", { sessionKey, title: "Renamed" })).session.title,
      "Renamed",
    );
    const fork = await client.call("sessions.fork", { sessionKey, newSessionKey: "fork" });
    assert.deepEqual([fork.session.forkedFrom, fork.session.messageCount], [sessionKey, 2]);
    assert.equal(
      await client.refused("sessions.fork", { sessionKey, newSessionKey: sessionKey }),
      "conflict",
    );
    await client.call("sessions.reset", { sessionKey });
    assert.deepEqual((await client.call("chat.history", { sessionKey })).messages, []);
    assert.equal((await client.call("sessions.get", { sessionKey })).session.title, "Renamed");
    await client.end((await client.call("chat.send", { sessionKey, message: "b" })).runId);
    assert.equal(server.model.calls.at(-1)?.context.messages.length, 1);
    await client.end((await client.call("chat.send", { sessionKey: "fork", message: "c" })).runId);
    assert.equal(server.model.calls.at(-1)?.context.messages.length, 3);
    const deletions = async (): Promise<number> => {
      await other.call("health.check", {});
      return other.frames.filter(({ data }) => data?.change === "deleted").length;
    };
    assert.deepEqual(await client.call("sessions.delete", { sessionKey }), { deleted: true });
    assert.equal(await deletions(), 1);
    assert.deepEqual(await client.call("sessions.delete", { sessionKey }), { deleted: false });
    assert.equal(await deletions(), 1);
    assert.equal(await client.refused("sessions.get", { sessionKey }), "not_found");
    assert.equal(await client.refused("sessions.patch", { sessionKey, title: "x" }), "not_found");
    const changes = other.frames
      .filter(({ event }) => event === "sessions.changed")
      .map(({ data }) => data?.change);
    for (const change of ["created", "updated", "reset", "deleted"])
      assert.ok(changes.includes(change), change);
  });

  it("can be renamed during a run, and a reset or deletion ends the run first", async () => {
    await using server = await gatewayWith(["word ".repeat(100), "word ".repeat(100)], {
      pace: { delayMs: 5 },
    });
    const client = await server.client();
    const first = await client.call("chat.send", { sessionKey: "s", message: "a" });
    await client.event("chat.delta", first.runId);
    assert.equal(
      (await client.call("sessions.patch", { sessionKey: "s", title: "Now" })).session.title,
      "Now",
    );
    await client.call("sessions.reset", { sessionKey: "s" });
    assert.equal((await client.end(first.runId)).event, "chat.aborted");
    const second = await client.call("chat.send", { sessionKey: "s", message: "b" });
    await client.event("chat.delta", second.runId);
    assert.deepEqual(await client.call("sessions.delete", { sessionKey: "s" }), { deleted: true });
    assert.equal((await client.end(second.runId)).event, "chat.aborted");
  });
});

describe("history", () => {
  it("returns the last messages up to a limit, and earlier pages", async () => {
    const answers = Array.from({ length: 5 }, (_, index) => `answer ${index}`);
    await using server = await gatewayWith(answers);
    const client = await server.client();
    for (const [index] of answers.entries())
      await client.end(
        (await client.call("chat.send", { sessionKey: "s", message: `question ${index}` })).runId,
      );
    const last = await client.call("chat.history", { sessionKey: "s", limit: 3 });
    assert.deepEqual([last.messages.length, last.hasMore], [3, true]);
    const before = await client.call("chat.history", {
      sessionKey: "s",
      limit: 500,
      before: last.messages[0]?.id ?? "",
    });
    assert.deepEqual([before.messages.length, before.hasMore], [7, false]);
    assert.equal(
      await client.refused("chat.history", { sessionKey: "s", limit: 501 }),
      "bad_params",
    );
    assert.deepEqual((await client.call("chat.history", { sessionKey: "none" })).messages, []);
    assert.deepEqual(
      (await client.call("chat.history", { sessionKey: "none", before: "nothing" })).messages,
      [],
    );
    // Returning the last messages again would make them look like earlier ones.
    assert.equal(
      await client.refused("chat.history", { sessionKey: "s", before: "nothing" }),
      "not_found",
    );
  });

  it("truncates very large messages", async () => {
    await using server = await gatewayWith(["x".repeat(3_000_000)], {
      pace: { deltaLength: 50_000 },
    });
    const client = await server.client();
    await client.end((await client.call("chat.send", { sessionKey: "s", message: "go" })).runId);
    const { messages } = await client.call("chat.history", { sessionKey: "s" });
    const length = JSON.stringify(messages).length;
    assert.ok(length < 50_000, String(length));
    assert.match(JSON.stringify(messages), /more characters/);
    assert.equal(messages[0]?.truncated, undefined);
    assert.equal(messages[1]?.truncated?.length, 3_000_000);
  });

  it("returns every message whole, in parts of limited size, without secrets", async () => {
    const secret = "hunter2-and-more";
    const around = (length: number): string => `${"x\n".repeat(length / 2)}${secret}`;
    // The secret is at the truncation, and a surrogate pair at the end of a part.
    const text = `${around(20_000 - 4)}${'🧵"'.repeat(300_000)}${secret} end`;
    await using server = await gatewayWith([text], {
      secrets: [secret],
      pace: { deltaLength: 50_000 },
    });
    const client = await server.client();
    await client.end((await client.call("chat.send", { sessionKey: "s", message: "go" })).runId);
    const { messages } = await client.call("chat.history", { sessionKey: "s" });
    const { id = "" } = messages.at(-1) ?? {};
    let json = "";
    let pieces = 0;
    for (let length = Infinity; json.length < length; pieces++) {
      const piece = await client.call("chat.message", { sessionKey: "s", id, offset: json.length });
      assert.ok(piece.json.length <= 400_000 && piece.json !== "");
      assert.equal(/[\uD800-\uDBFF]$/.test(piece.json), false);
      ({ length } = piece);
      json += piece.json;
    }
    assert.ok(pieces > 2, String(pieces));
    const whole = JSON.parse(json) as Extract<HistoryMessage, { role: "assistant" }>;
    const [part] = whole.content;
    assert.equal(part?.type === "text" && part.text, text.replaceAll(secret, "[redacted]"));
    assert.equal(JSON.stringify(client.frames).includes(secret.slice(0, 8)), false);
    const program = new GatewayClient({ url: server.gateway.url, token, WebSocket });
    assert.deepEqual(await program.message("s", id), whole);
    program.close();
    const past = await client.call("chat.message", { sessionKey: "s", id, offset: json.length });
    assert.equal(past.json, "");
    for (const asked of [
      { sessionKey: "s", id: "none" },
      { sessionKey: "other", id },
    ])
      assert.equal(await client.refused("chat.message", asked), "not_found");
  });

  it("and a snapshot make up the whole conversation, without the entries of followed runs", async () => {
    const { tool, release } = heldTool();
    const script = ["First.", call, "Second."];
    const rules: NonNullable<TestOptions["rules"]> = {
      judge: () => ({ action: "allow" }),
      add: async () => {},
    };
    await using server = await gatewayWith(script, { tools: () => [tool], rules });
    const sender = await server.client();
    await sender.end((await sender.call("chat.send", { sessionKey: "s", message: "One" })).runId);
    const { runId } = await sender.call("chat.send", { sessionKey: "s", message: "Two" });
    await sender.event("chat.tool_call", runId);
    // A client that joins now subscribes first, then reads the history.
    const client = await server.client();
    const { runs } = await client.call("chat.subscribe", { sessionKey: "s" });
    const { messages } = await client.call("chat.history", { sessionKey: "s" });
    const followed = new Set(runs.map((run) => run.runId));
    const past = messages.filter((entry) => !followed.has(entry.runId ?? ""));
    release();
    await client.end(runId);
    const { blocks } = await client.event("chat.snapshot", runId);
    const said = past.map(({ message: { role, content } }) =>
      role === "user" ? content : messageText({ content }),
    );
    assert.deepEqual(
      [
        ...said,
        ...blocks.flatMap((block) => (block.type === "tool_call" ? [block.name] : [block.text])),
        client.text(runId),
      ],
      ["One", "First.", "Two", "wait", "Second."],
    );
  });
});

it("lists the agents and their models", async () => {
  await using server = await gatewayWith([]);
  const client = await server.client();
  const [agent, ...others] = (await client.call("agents.list", {})).agents;
  assert.deepEqual(
    [agent?.id, agent?.answeredBy, agent?.isDefault, others],
    ["assistant", "scripted/scripted", true, []],
  );
});

describe("sessions with an active run", () => {
  it("are deleted or reset without waiting for later messages, which go to the new session", async () => {
    for (const method of ["sessions.delete", "sessions.reset"] as const) {
      await using server = await gatewayWith([call, call], { tools: () => [heldTool().tool] });
      const client = await server.client();
      await client.call("chat.send", {
        sessionKey: "s",
        message: "First",
        idempotencyKey: "first",
      });
      await client.event("exec.approval_request", "first");
      const ending = client.call(method, { sessionKey: "s" });
      const next = { sessionKey: "s", message: "Second", idempotencyKey: "second" };
      assert.equal((await client.call("chat.send", next)).status, "started", method);
      await ending;
      await client.event("exec.approval_request", "second"); // the new run was not ended
      const { messages } = await client.call("chat.history", { sessionKey: "s" });
      assert.equal(
        (messages[0]?.message as { content?: string } | undefined)?.content,
        "Second",
        method,
      );
    }
  });

  it("are not reset before they are stored, and the run goes on", async () => {
    const { tool, release } = heldTool();
    await using server = await gatewayWith([call, "One.", "Two."], {
      tools: () => [tool],
      rules: { judge: () => ({ action: "allow" }), add: async () => {} },
      limits: { maxRuns: 1 },
    });
    const client = await server.client();
    await client.call("chat.send", { sessionKey: "s", message: "a", idempotencyKey: "one" });
    await client.event("chat.tool_call", "one");
    const asked = { sessionKey: "t", message: "b", idempotencyKey: "two" };
    assert.equal((await client.call("chat.send", asked)).status, "queued");
    assert.equal(await client.refused("sessions.reset", { sessionKey: "t" }), "not_found");
    release();
    assert.equal((await client.end("two")).event, "chat.final");
  });

  it("are deleted with the message that a normally ending run leaves", async () => {
    const kept = createMemoryPending();
    let goOn = (): void => {};
    const gone = new Promise<void>((resolve) => (goOn = resolve));
    // The run's message is removed after its end, and before the message it leaves becomes a run.
    const pending: Pending = {
      ...kept,
      remove: (name) =>
        (name.id === "first" ? gone : Promise.resolve()).then(() => kept.remove(name)),
    };
    const store = createMemoryStore();
    let followUp: (() => Promise<unknown>) | undefined;
    const late = withAppend(store, async (append, entries) => {
      if (entries.some(({ type }) => type === "run_end")) await followUp?.();
      await append(entries);
    });
    await using server = await gatewayWith(["Done.", call], {
      pending,
      store: late,
      tools: () => [heldTool().tool],
    });
    const client = await server.client();
    followUp = () =>
      client.call("chat.followUp", { sessionKey: "s", message: "Left", idempotencyKey: "left" });
    await client.call("chat.send", { sessionKey: "s", message: "First", idempotencyKey: "first" });
    assert.equal((await client.end("first")).event, "chat.final");
    followUp = undefined;
    const deleting = client.call("sessions.delete", { sessionKey: "s" });
    await client.call("health.check", {}); // the request has arrived by then
    goOn();
    await deleting;
    assert.equal((await client.end("left")).event, "chat.aborted");
    assert.deepEqual(await kept.list(), []);
  });
});
