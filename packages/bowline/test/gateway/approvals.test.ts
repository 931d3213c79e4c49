import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { defineTool, type AgentTool } from "@bowline/core";
import {
  createMemoryStore,
  type AnyEntry,
  type SessionWriter,
  type Store,
} from "@bowline/core/session";
import { scriptedToolCall, type ScriptedStep } from "@bowline/core/testing";
import { createMemoryPending } from "../../src/gateway/runs/pending.ts";
import { loadRules } from "../../src/policy/rules.ts";
import { gatewayWith, wait, type TestGateway, type TestOptions } from "./gateway.ts";

function commands(ran: string[]): AgentTool {
  return defineTool({
    name: "bash",
    description: "Runs a command.",
    parameters: {
      type: "object",
      properties: { command: { type: "string" } },
      required: ["command"],
    } as const,
    replay: "safe",
    execute({ command }) {
      ran.push(command);
      return "done";
    },
  });
}

const call = (command: string, id = `call_${command}`): ScriptedStep => ({
  content: [scriptedToolCall("bash", { command }, id)],
});

async function asking(
  script: readonly ScriptedStep[],
  options: TestOptions = {},
): Promise<TestGateway & { ran: string[] }> {
  const ran: string[] = [];
  const server = await gatewayWith(script, { tools: () => [commands(ran)], ...options });
  return Object.assign(server, { ran });
}

describe("a call that needs approval", () => {
  it("is one whose tool needs approval, unless a configured rule allows it", async () => {
    const look = (name: string): AgentTool =>
      defineTool({
        name,
        description: "Looks.",
        parameters: { type: "object", properties: {} },
        needsApproval: true,
        execute: () => `Seen by ${name}.`,
      });
    await using server = await gatewayWith(
      [{ content: ["look", "glob"].map((name) => scriptedToolCall(name, {}, name)) }, "Done."],
      {
        tools: () => [look("look"), look("glob")],
        rules: await loadRules([{ action: "allow", tool: "look" }]),
      },
    );
    const client = await server.client();
    const { runId } = await client.call("chat.send", { sessionKey: "s", message: "go" });
    const asked = await client.event("exec.approval_request", runId);
    assert.equal(asked.toolName, "glob");
    await client.call("exec.approve", { approvalId: asked.approvalId });
    await client.event("chat.final", runId);
    const { messages } = await client.call("chat.history", { sessionKey: "s" });
    const shown = JSON.stringify(messages);
    assert.ok(shown.includes("Seen by look.") && shown.includes("Seen by glob."), shown);
  });

  // Requirements: X26
  it("is announced with all details, waits, and runs when allowed", async () => {
    await using server = await asking([call("git status"), "Clean."]);
    const client = await server.client();
    const { runId } = await client.call("chat.send", { sessionKey: "s", message: "go" });
    const asked = await client.event("exec.approval_request", runId);
    const { toolName, summary, arguments: args, command, workingDir, sessionKey, pattern } = asked;
    assert.deepEqual(
      { toolName, summary, arguments: args, command, workingDir, sessionKey, pattern },
      {
        toolName: "bash",
        summary: "bash: git status",
        arguments: { command: "git status" },
        command: "git status",
        workingDir: "/work",
        sessionKey: "s",
        pattern: "git status",
      },
    );
    assert.deepEqual(server.ran, []);
    const { approvals } = await client.call("approvals.list", {});
    assert.deepEqual(
      approvals.map(({ approvalId }) => approvalId),
      [asked.approvalId],
    );
    await client.call("exec.approve", { approvalId: asked.approvalId });
    await client.event("chat.final", runId);
    assert.equal((await client.event("exec.approval_resolved", runId)).decision, "allow");
    assert.deepEqual(server.ran, ["git status"]);
    assert.deepEqual((await client.call("approvals.list", {})).approvals, []);
  });

  it("is approved separately when ids differ only in a lone surrogate", async () => {
    const ids = ["call_\ud83d", "call_\ud83e", "call_\ufffd", "call_\ufffdd83d"];
    const calls = ids.map((id, at) => scriptedToolCall("bash", { command: `git ${at}` }, id));
    await using server = await asking([{ content: calls }, "Done."]);
    const client = await server.client();
    const { runId } = await client.call("chat.send", { sessionKey: "s", message: "go" });
    const asked = new Set<string>();
    for (let tries = 0; asked.size < ids.length; tries++) {
      assert.ok(tries < 500, "one of them cannot be answered");
      await wait(10);
      const { approvals } = await client.call("approvals.list", {});
      for (const { approvalId } of approvals) {
        if (asked.has(approvalId)) continue;
        asked.add(approvalId);
        await client.call("exec.approve", { approvalId });
      }
    }
    assert.equal((await client.end(runId)).event, "chat.final");
    assert.deepEqual(server.ran.toSorted(), ["git 0", "git 1", "git 2", "git 3"]);
  });

  it("is shown with the tool's reason, and without one where the tool gives none", async () => {
    const write = (name: string, needsApproval: AgentTool["needsApproval"]): AgentTool =>
      defineTool({
        name,
        description: "Writes.",
        parameters: { type: "object", properties: {} },
        ...(needsApproval !== undefined && { needsApproval }),
        execute: () => "done",
      });
    const tools = [write("one", () => "It leaves the folder."), write("two", () => true)];
    const calls = tools.map(({ name }) => scriptedToolCall(name, {}, name));
    await using server = await gatewayWith([{ content: calls }, "Done."], { tools: () => tools });
    const client = await server.client();
    const { runId } = await client.call("chat.send", { sessionKey: "s", message: "go" });
    const shown = new Map<string, unknown>();
    for (let tries = 0; shown.size < 2; tries++) {
      assert.ok(tries < 500, "both wait for an answer");
      await wait(10);
      const { approvals } = await client.call("approvals.list", {});
      for (const { toolName, approvalId, ...more } of approvals) {
        shown.set(toolName, more);
        await client.call("exec.approve", { approvalId });
      }
    }
    const [one, two] = ["one", "two"].map((name) => shown.get(name) as Record<string, unknown>);
    assert.equal(one?.["reason"], "It leaves the folder.");
    assert.ok(two && !("reason" in two) && !("command" in two) && !("workingDir" in two));
    await client.end(runId);
  });

  it("does not run when denied, and the model gets the reason", async () => {
    await using server = await asking([call("rm -rf /"), "Then not."]);
    const client = await server.client();
    const { runId } = await client.call("chat.send", { sessionKey: "s", message: "go" });
    const { approvalId } = await client.event("exec.approval_request", runId);
    await client.call("exec.deny", { approvalId, reason: "too much" });
    assert.equal((await client.end(runId)).event, "chat.final");
    assert.deepEqual(server.ran, []);
    assert.deepEqual((await client.event("chat.tool_result", runId)).output, "Denied: too much.");
  });

  it("is answered once, by any client with access, also without subscribing to the session", async () => {
    await using server = await asking([call("ls"), "Done."]);
    const [one, two, three] = [await server.client(), await server.client(), await server.client()];
    const { runId } = await one.call("chat.send", { sessionKey: "s", message: "go" });
    const { approvalId } = await two.event("exec.approval_request", runId);
    const answers = [two, three, one].map((client) =>
      client.call("approvals.resolve", { approvalId, decision: "allow-once" }).then(
        () => "taken",
        () => "refused",
      ),
    );
    assert.deepEqual((await Promise.all(answers)).toSorted(), ["refused", "refused", "taken"]);
    await one.end(runId);
    assert.equal(await two.refused("exec.approve", { approvalId }), "conflict");
    assert.equal(await two.refused("exec.approve", { approvalId: "never was" }), "not_found");
    assert.deepEqual(server.ran, ["ls"]);
  });

  it("is denied when the approval times out", async () => {
    await using server = await asking([call("ls"), "Then not."], {
      limits: { approvalTimeoutMs: 40 },
    });
    const client = await server.client();
    const { runId } = await client.call("chat.send", { sessionKey: "s", message: "go" });
    await client.event("chat.final", runId);
    const { decision, approvalId } = await client.event("exec.approval_resolved", runId);
    assert.equal(decision, "expired");
    assert.deepEqual(server.ran, []);
    assert.equal(await client.refused("exec.approve", { approvalId }), "conflict");
  });

  it("is no longer pending when its run is stopped", async () => {
    await using server = await asking([call("ls"), "Next."]);
    const client = await server.client();
    const { runId } = await client.call("chat.send", { sessionKey: "s", message: "go" });
    const { approvalId } = await client.event("exec.approval_request", runId);
    await client.call("chat.abort", { runId });
    assert.equal((await client.end(runId)).event, "chat.aborted");
    assert.deepEqual((await client.call("approvals.list", {})).approvals, []);
    assert.equal(await client.refused("exec.approve", { approvalId }), "conflict");
    assert.deepEqual(server.ran, []);
  });
});

describe("an approval for more than one call", () => {
  it("applies to the session and to no other", async () => {
    const script = [
      call("git log", "1"),
      "A.",
      call("git log", "2"),
      "B.",
      call("git log", "3"),
      "C.",
    ];
    await using server = await asking(script);
    const client = await server.client();
    const first = await client.call("chat.send", { sessionKey: "s", message: "go" });
    const { approvalId } = await client.event("exec.approval_request", first.runId);
    await client.call("approvals.resolve", { approvalId, decision: "allow-session" });
    await client.end(first.runId);
    const second = await client.call("chat.send", { sessionKey: "s", message: "go" });
    assert.equal((await client.end(second.runId)).event, "chat.final");
    const third = await client.call("chat.send", { sessionKey: "t", message: "go" });
    await client.event("exec.approval_request", third.runId);
    assert.deepEqual(server.ran, ["git log", "git log"]);
  });

  it("applies permanently by a pattern that covers the call, and to no other call", async () => {
    await using server = await asking([
      call("git log -1"),
      call("git log -2"),
      call("git push"),
      "Done.",
    ]);
    const client = await server.client();
    const { runId } = await client.call("chat.send", { sessionKey: "s", message: "go" });
    const { approvalId } = await client.event("exec.approval_request", runId);
    const resolve = { approvalId, decision: "allow-always" as const };
    assert.equal(
      await client.refused("approvals.resolve", { ...resolve, pattern: "git push" }),
      "bad_params",
    );
    await client.call("approvals.resolve", { ...resolve, pattern: "git log *" });
    const next = await client.until(
      ({ event, data }) => event === "exec.approval_request" && data?.approvalId !== approvalId,
    );
    assert.equal(next.data?.command, "git push");
    assert.deepEqual(server.ran, ["git log -1", "git log -2"]);
  });

  it("is not offered for a command that cannot be split into words", async () => {
    await using server = await asking([call("echo $(cat secret)"), "Done."]);
    const client = await server.client();
    const { runId } = await client.call("chat.send", { sessionKey: "s", message: "go" });
    const { approvalId, pattern } = await client.event("exec.approval_request", runId);
    assert.equal(pattern, undefined);
    assert.equal(
      await client.refused("approvals.resolve", { approvalId, decision: "allow-always" }),
      "bad_params",
    );
    await client.call("exec.approve", { approvalId });
    assert.equal((await client.end(runId)).event, "chat.final");
  });
});

describe("a pending approval after a restart", () => {
  it("is offered again by the next server, and its answer counts", async () => {
    const [store, pending] = [createMemoryStore(), createMemoryPending()];
    const first = await asking([call("ls")], { store, pending });
    const before = await first.client();
    const { runId } = await before.call("chat.send", { sessionKey: "s", message: "go" });
    const { approvalId } = await before.event("exec.approval_request", runId);
    await first[Symbol.asyncDispose]();
    assert.equal(
      before.frames.some(({ event = "" }) => /final|error|aborted/.test(event)),
      false,
    );

    await using second = await asking(["Done."], { store, pending });
    const client = await second.client();
    await client.call("chat.subscribe", { sessionKey: "s", runId });
    let approvals: readonly { approvalId: string }[] = [];
    while (approvals.length === 0)
      ({ approvals } = await client.call("approvals.list", { sessionKey: "s" }));
    assert.deepEqual(
      approvals.map((approval) => approval.approvalId),
      [approvalId],
    );
    await client.call("exec.approve", { approvalId });
    assert.equal((await client.end(runId)).event, "chat.final");
    assert.deepEqual(second.ran, ["ls"]);
  });
});

describe("an acknowledged approval answer", () => {
  /** Delays the log entry of an approval answer. */
  function slow(store: Store): Store {
    const wrap = (writer: SessionWriter): SessionWriter =>
      new Proxy(writer, {
        get: (target, name) =>
          name === "append"
            ? (entries: readonly AnyEntry[]) => append(target, entries)
            : Reflect.get(target, name, target),
      });
    const append = async (writer: SessionWriter, entries: readonly AnyEntry[]): Promise<void> => {
      if (entries.some(({ type }) => type === "approval_answer")) await wait(100);
      return writer.append(entries);
    };
    return {
      ...store,
      create: async (...given) => wrap(await store.create(...given)),
      open: async (id) => wrap(await store.open(id)),
    };
  }

  for (const [method, ran] of [
    ["exec.approve", ["ls"]],
    ["exec.deny", []],
  ] as const) {
    it(`(${method}) survives a kill of the server, and is not asked for again`, async () => {
      const [store, pending, copy] = [
        createMemoryStore(),
        createMemoryPending(),
        createMemoryStore(),
      ];
      const first = await asking([call("ls")], { store: slow(store), pending });
      const client = await first.client();
      const { runId } = await client.call("chat.send", { sessionKey: "s", message: "go" });
      const { approvalId } = await client.event("exec.approval_request", runId);
      await client.call(method, { approvalId });
      const entries: AnyEntry[] = [];
      for await (const batch of store.read("s")) entries.push(...batch);
      const answer = entries.findIndex(({ type }) => type === "approval_answer");
      assert.ok(answer > 0, "it is in the log by then");
      await (await copy.create(await store.load("s"), entries.slice(0, answer + 1))).close();
      const left = createMemoryPending();
      for (const message of await pending.list()) await left.add(message);
      await first[Symbol.asyncDispose]();

      await using second = await asking(["Done."], { store: copy, pending: left });
      const other = await second.client();
      await other.call("chat.subscribe", { sessionKey: "s", runId });
      assert.equal((await other.end(runId)).event, "chat.final");
      assert.deepEqual(
        [second.ran, other.frames.some(({ event }) => event === "exec.approval_request")],
        [ran, false],
      );
    });
  }

  it("is refused when the server closes before it is stored", async () => {
    await using server = await asking([call("ls")], { store: slow(createMemoryStore()) });
    const client = await server.client();
    const { runId } = await client.call("chat.send", { sessionKey: "s", message: "go" });
    const { approvalId } = await client.event("exec.approval_request", runId);
    const answer = client.refused("exec.approve", { approvalId });
    await client.call("health.check", {}); // the answer has arrived by then
    const closing = server.gateway.close();
    assert.equal(await answer, "conflict");
    await closing;
  });
});

describe("the policy", () => {
  it("denies what a rule denies without asking", async () => {
    const rules = await loadRules([
      { action: "allow", tool: "bash" },
      { action: "deny", tool: "bash", pattern: "rm *" },
    ]);
    await using server = await asking([call("rm x"), call("ls"), "Done."], { rules });
    const client = await server.client();
    const { runId } = await client.call("chat.send", { sessionKey: "s", message: "go" });
    await client.event("chat.final", runId);
    assert.deepEqual(server.ran, ["ls"]);
    assert.match((await client.event("chat.tool_result", runId)).output, /policy/);
  });
});
