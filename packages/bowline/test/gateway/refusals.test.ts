/** Requests that are refused, and their errors. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { BowlineError, defineTool, type AgentTool } from "@bowline/core";
import { createMemoryStore, openSession, type Store } from "@bowline/core/session";
import { scriptedToolCall, type ScriptedStep } from "@bowline/core/testing";
import { Choices } from "../../src/gateway/agents/choices.ts";
import { agentOf } from "../../src/gateway/agents/session-agent.ts";
import { RequestError } from "../../src/gateway/client/request-error.ts";
import { errorNumbers, type FrameError } from "../../src/gateway/protocol/frame.ts";
import { Lane } from "../../src/gateway/runs/lane.ts";
import { toResponse } from "../../src/gateway/server/http.ts";
import { startGateway } from "../../src/gateway/server/server.ts";
import { eventually } from "../../../../test/support/within.ts";
import { deferred } from "../../../../test/support/deferred.ts";
import { agents, gatewayWith, token, type AnyFrame, type TestClient } from "./gateway.ts";

/** Starts a gateway with these tokens, and closes it if it starts. */
async function startWith(tokens: { full: string; read?: string }): Promise<void> {
  const gateway = await startGateway({
    tokens,
    store: createMemoryStore(),
    agents: () => agents,
    backendFor: () => Promise.reject(new Error("not asked")),
    systemPrompt: () => "",
    workspacePath: "/",
    port: 0,
  });
  await gateway.close();
}

it("empty or equal tokens are refused", async () => {
  for (const tokens of [
    { full: "" },
    { full: "", read: "r" },
    { full: "f", read: "" },
    { full: "f", read: "f" },
  ])
    await assert.rejects(startWith(tokens), /must not be empty, nor the same/, tokens.read);
});

describe("the id of a request", () => {
  /** Returns the id and the error code of the answer. */
  async function answered(client: TestClient, id: string): Promise<unknown[]> {
    const before = client.frames.length;
    client.socket.send(`{"id":${id},"method":"health.check"}`);
    const isNew = (frame: AnyFrame): boolean => client.frames.indexOf(frame) >= before;
    const frame = await client.until((one) => isNew(one) && "id" in one);
    return [frame.id, frame.error?.data?.code];
  }

  it("is a number or a text of up to 200 characters", async () => {
    await using server = await gatewayWith([]);
    const client = await server.client();
    assert.deepEqual(await answered(client, "7"), [7, undefined]);
    const long = "x".repeat(200);
    assert.deepEqual(await answered(client, JSON.stringify(long)), [long, undefined]);
    for (const id of [JSON.stringify(`${long}x`), "1e400", "true", "[1]"]) {
      assert.deepEqual(await answered(client, id), [null, "bad_request"], id);
      await client.call("health.check", {});
    }
  });
});

describe("an unreadable session", () => {
  it("is answered by no agent, because another one may have been chosen", async () => {
    const store = createMemoryStore();
    const load: Store["load"] = async () => {
      throw new BowlineError("storage_failed", "Too many open files.");
    };
    const parts = { agents: async () => agents, choices: new Choices(store) };
    assert.equal((await agentOf({ ...parts, store }, "s")).id, "assistant");
    await assert.rejects(agentOf({ ...parts, store: { ...store, load } }, "s"), /open files/);
  });
});

describe("an approval request", () => {
  const bash: AgentTool = defineTool({
    name: "bash",
    description: "Runs a command.",
    parameters: {
      type: "object",
      properties: { command: { type: "string" } },
      required: ["command"],
    } as const,
    execute: () => "done",
  });
  const call = (command: string): ScriptedStep => ({
    content: [scriptedToolCall("bash", { command }, "1")],
  });

  it("that was answered is refused with that answer", async () => {
    await using server = await gatewayWith([call("git status"), "Done."], { tools: () => [bash] });
    const client = await server.client();
    const { runId } = await client.call("chat.send", { sessionKey: "s", message: "go" });
    const { approvalId } = await client.event("exec.approval_request", runId);
    await client.call("exec.approve", { approvalId });
    await client.end(runId);
    await assert.rejects(client.call("exec.deny", { approvalId }), /already answered: allow/);
  });

  it("says when it expires", async () => {
    await using server = await gatewayWith([call("git status"), "Done."], { tools: () => [bash] });
    const client = await server.client();
    const before = Date.now();
    const { runId } = await client.call("chat.send", { sessionKey: "s", message: "go" });
    const { approvalId, expiresAt = 0 } = await client.event("exec.approval_request", runId);
    assert.ok(expiresAt > before, String(expiresAt));
    const { approvals } = await client.call("approvals.list", {});
    assert.equal(approvals[0]?.expiresAt, expiresAt);
    await client.call("exec.approve", { approvalId });
    await client.end(runId);
  });

  it("offers no pattern that would contain a secret", async () => {
    await using server = await gatewayWith([call(`git push ${token}`), "Done."], {
      tools: () => [bash],
    });
    const client = await server.client();
    const { runId } = await client.call("chat.send", { sessionKey: "s", message: "go" });
    const asked = await client.event("exec.approval_request", runId);
    assert.equal(asked.pattern, undefined);
    assert.ok(!JSON.stringify(asked).includes(token));
    await client.call("exec.approve", { approvalId: asked.approvalId });
    await client.end(runId);
  });
});

describe("a session key", () => {
  it("is well-formed and at most 512 units long, for existing and new sessions", async () => {
    await using server = await gatewayWith([]);
    const client = await server.client();
    await client.call("sessions.create", { sessionKey: "s" });
    const fits = "k".repeat(512);
    for (const key of [`${fits}k`, "😀".repeat(257), "\ud83d"]) {
      assert.equal(await client.refused("sessions.create", { sessionKey: key }), "bad_params");
      const fork = { sessionKey: "s", newSessionKey: key };
      assert.equal(await client.refused("sessions.fork", fork), "bad_params");
      const sent = { sessionKey: key, message: "Hi" };
      assert.equal(await client.refused("chat.send", sent), "bad_params");
    }
    await client.call("sessions.fork", { sessionKey: "s", newSessionKey: fits });
  });
});

describe("a fork", () => {
  it("contains the entries up to the given one, or all without one", async () => {
    await using server = await gatewayWith(["One.", "Two."]);
    const client = await server.client();
    for (const message of ["First", "Second"]) {
      const { runId } = await client.call("chat.send", { sessionKey: "s", message });
      await client.end(runId);
      await eventually("no run goes on", async () => {
        return (await client.call("health.check", {})).runs === 0;
      });
    }
    const session = await openSession(server.store, "s", { readOnly: true });
    const path = await session.path();
    const at = path.find((entry) => JSON.stringify(entry).includes("One."))?.id ?? "";
    await client.call("sessions.fork", { sessionKey: "s", newSessionKey: "half", at });
    await client.call("sessions.fork", { sessionKey: "s", newSessionKey: "whole" });
    const counts: number[] = [];
    for (const sessionKey of ["half", "whole"])
      counts.push((await client.call("chat.history", { sessionKey })).messages.length);
    assert.deepEqual(counts, [2, 4]);
  });
});

it("the history contains no signatures or raw arguments", async () => {
  const step: ScriptedStep = {
    content: [
      { type: "thinking", thinking: "hm", thinkingSignature: "SIGNED" },
      { type: "text", text: "Hello", textSignature: "SIGNED" },
      { type: "toolCall", id: "1", name: "none", arguments: {}, thoughtSignature: "SIGNED" },
    ],
  };
  await using server = await gatewayWith([step, "Done."]);
  const client = await server.client();
  const { runId } = await client.call("chat.send", { sessionKey: "s", message: "go" });
  await client.end(runId);
  const history = JSON.stringify(await client.call("chat.history", { sessionKey: "s" }));
  assert.ok(history.includes("Hello"));
  assert.ok(!/SIGNED|Signature|argumentsText/.test(history), history);
});

describe("the retry delay of a refusal", () => {
  const busy: FrameError = {
    code: errorNumbers.busy,
    message: "Too many.",
    data: { code: "busy", retryable: true, retryAfterMs: 1500 },
  };

  it("is given in whole seconds over HTTP", () => {
    assert.equal(toResponse(busy).headers.get("retry-after"), "2");
    const { headers } = toResponse({ ...busy, data: { code: "busy", retryable: true } });
    assert.equal(headers.get("retry-after"), null);
  });

  it("is passed on by the client", () => {
    const { code, number, retryable, retryAfterMs } = new RequestError(busy);
    assert.deepEqual(
      [code, number, retryable, retryAfterMs],
      ["busy", errorNumbers.busy, true, 1500],
    );
    const bare = new RequestError({ code: errorNumbers.not_found, message: "No such session." });
    assert.deepEqual([bare.code, bare.retryable], ["not_found", false]);
    assert.equal(new RequestError({ code: 1, message: "?" }).code, "internal");
  });
});

describe("the lane of a session", () => {
  it("is idle only while it is not in use", async () => {
    for (const use of ["exclusive", "inOrder"] as const) {
      const lane = new Lane("s", createMemoryStore());
      const gate = deferred();
      assert.equal(lane.isIdle, true);
      const done = lane[use](() => gate.promise);
      assert.equal(lane.isIdle, false);
      gate.resolve();
      await done;
      assert.equal(lane.isIdle, true);
      await assert.rejects(lane[use](() => Promise.reject(new Error("no"))));
      assert.equal(lane.isIdle, true);
    }
  });
});
