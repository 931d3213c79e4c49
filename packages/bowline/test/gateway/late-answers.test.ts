/** Answers to approval requests that have expired, or whose ids a client cannot send. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { scriptedToolCall } from "@bowline/core/testing";
import { loadRules } from "../../src/policy/rules.ts";
import { heldTool } from "../held-tool.ts";
import { gatewayWith } from "./gateway.ts";

describe("the answer to an approval request", () => {
  it("is refused when its run was stopped while its rule was being written", async () => {
    const [reached, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const loaded = await loadRules();
    const rules = {
      ...loaded,
      add: async (rule: Parameters<typeof loaded.add>[0]) => {
        reached.resolve();
        await goOn.promise;
        await loaded.add(rule);
      },
    };
    const script = [{ content: [scriptedToolCall("bash", { command: "ls" }, "b")] }];
    await using server = await gatewayWith(script, {
      rules,
      tools: () => [{ ...heldTool().tool, name: "bash" }],
    });
    const client = await server.client();
    await client.call("chat.send", { sessionKey: "s", message: "Go", idempotencyKey: "run" });
    const { approvalId } = await client.event("exec.approval_request", "run");
    const refused = client.refused("approvals.resolve", { approvalId, decision: "allow-session" });
    await reached.promise;
    await client.call("chat.abort", { sessionKey: "s" });
    await client.end("run");
    goOn.resolve();
    assert.equal(await refused, "conflict");
  });

  it("reaches a call whose id has a lone surrogate, by the id that clients got", async () => {
    const { tool, release } = heldTool();
    const script = [{ content: [scriptedToolCall("wait", {}, "half \ud83d")] }, "Done."];
    await using server = await gatewayWith(script, { tools: () => [tool] });
    const client = await server.client();
    await client.call("chat.send", { sessionKey: "s", message: "Go", idempotencyKey: "run" });
    const { approvalId } = await client.event("exec.approval_request", "run");
    release();
    assert.equal((await client.call("approvals.list", {})).approvals[0]?.approvalId, approvalId);
    assert.equal(
      await client.call("exec.approve", { approvalId }).then((answer) => answer.approvalId),
      approvalId,
    );
    assert.equal((await client.event("exec.approval_resolved", "run")).approvalId, approvalId);
    assert.equal((await client.end("run")).event, "chat.final");
  });
});
