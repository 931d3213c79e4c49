/** Tests which calls of a created agent need approval, and which are denied. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { defineTool, requireApproval, type AgentOptions, type AgentTool } from "@bowline/core";
import { scriptedToolCall } from "@bowline/core/testing";
import type { GatewayClient } from "bowline/client";
import { loadRules, type Rules } from "bowline/gateway";
import type { Decision } from "../../src/gateway/protocol/protocol.ts";
import { madeHouse, scripted } from "./made-house.ts";

interface Outcome {
  /** The calls that people were asked about, as `tool path`. */
  readonly asked: readonly string[];
  /** The calls that ran, as `tool path`. */
  readonly ran: readonly string[];
  /** The result of each call that the model got. */
  readonly results: readonly string[];
}

interface Scene {
  /** Calls, as `tool path`. */
  readonly calls: readonly string[];
  readonly options?: AgentOptions;
  readonly rules?: Rules;
  readonly answers?: readonly Decision[];
}

/** Runs one run per call, and answers each question over the socket. */
async function play({ calls, options = {}, rules, answers = [] }: Scene): Promise<Outcome> {
  const [asked, ran, results]: string[][] = [[], [], []];
  const decisions = [...answers];
  const tool = (name: string, needsApproval?: AgentTool["needsApproval"]): AgentTool =>
    defineTool({
      name,
      description: "Touches a file.",
      parameters: {
        type: "object",
        properties: { path: { type: "string" } },
        required: ["path"],
      } as const,
      ...(needsApproval !== undefined && { needsApproval }),
      execute: ({ path }) => {
        ran?.push(`${name} ${path}`);
        return "done";
      },
    });
  const tools = [tool("look"), tool("read", true), tool("drop", () => "It is gone then.")];
  const steps = [...calls];
  await using house = await madeHouse(
    () => {
      const [name = "", path = ""] = (steps.shift() ?? "").split(" ");
      return scripted([{ content: [scriptedToolCall(name, { path })] }, "Done."], {
        tools,
        ...options,
      });
    },
    { ...(rules !== undefined && { rules }) },
  );
  const client = house.client();
  client.onEvent(({ event, data }) => {
    if (event === "chat.tool_result") results?.push(data.output);
    if (event !== "exec.approval_request") return;
    asked?.push(`${data.toolName} ${(data.arguments as { path: string }).path}`);
    void answer(client, data.approvalId, decisions.shift() ?? "deny");
  });
  for (const message of calls) {
    const { end } = await (await client.send({ sessionKey: "s", message })).result();
    assert.equal(end.event, "chat.final", JSON.stringify(end));
  }
  return { asked: asked ?? [], ran: ran ?? [], results: results ?? [] };
}

const answer = (client: GatewayClient, approvalId: string, decision: Decision): Promise<unknown> =>
  client.request("approvals.resolve", { approvalId, decision });

describe("a call of a created agent, without rules", () => {
  it("waits for approval exactly when its tool requires it", async () => {
    const { asked, ran, results } = await play({
      calls: ["look a", "read b", "drop c", "drop d"],
      answers: ["allow-once", "deny", "allow-once"],
    });
    assert.deepEqual(asked, ["read b", "drop c", "drop d"]);
    assert.deepEqual(ran, ["look a", "read b", "drop d"]);
    assert.match(results[2] ?? "", /^Denied/);
  });

  it("waits when the agent's beforeToolCall asks, and is asked about once", async () => {
    const { asked, ran } = await play({
      calls: ["look a", "drop b"],
      options: { beforeToolCall: requireApproval() },
      answers: ["allow-once", "allow-once"],
    });
    assert.deepEqual(asked, ["look a", "drop b"]);
    assert.deepEqual(ran, ["look a", "drop b"]);
  });

  it("does not run when the agent's beforeToolCall blocks it", async () => {
    const { asked, results } = await play({
      calls: ["drop a"],
      options: { beforeToolCall: () => ({ block: true, reason: "Not today." }) },
    });
    assert.deepEqual([asked, results], [[], ["Not today."]]);
  });

  it("is asked about with the arguments that the agent's beforeToolCall set", async () => {
    const { asked, ran } = await play({
      calls: ["drop a", "drop a"],
      options: {
        beforeToolCall: (context) => {
          context.approve?.(); // applies to other arguments, so it has no effect
          return { args: { path: "b" } };
        },
      },
      answers: ["allow-once", "deny"],
    });
    assert.deepEqual([asked, ran], [["drop b", "drop b"], ["drop b"]]);
  });

  it("is asked about again when the agent's beforeToolCall changes approved arguments", async () => {
    const ask = requireApproval();
    const { asked, ran } = await play({
      calls: ["drop a"],
      options: {
        beforeToolCall: async (context, signal) =>
          (await ask(context, signal)) ?? { args: { path: "b" } },
      },
      answers: ["allow-once", "allow-once"],
    });
    assert.deepEqual([asked, ran], [["drop a", "drop b"], ["drop b"]]);
  });

  it("runs without a question after it was allowed for the session", async () => {
    const { asked, ran } = await play({
      calls: ["drop a", "drop a", "drop b"],
      answers: ["allow-session", "deny"],
    });
    assert.deepEqual(
      [asked, ran],
      [
        ["drop a", "drop b"],
        ["drop a", "drop a"],
      ],
    );
  });

  it("has a result that the agent's afterToolCall can change", async () => {
    const { results } = await play({
      calls: ["look a"],
      options: { afterToolCall: () => ({ content: [{ type: "text", text: "changed" }] }) },
    });
    assert.deepEqual(results, ["changed"]);
  });
});

describe("a call of a created agent, with rules", () => {
  const denying = (): Promise<Rules> =>
    loadRules([
      { action: "allow", tool: "look" },
      { action: "deny", tool: "*", pattern: "secret*" },
    ]);

  it("is denied by a rule, even if the agent's beforeToolCall approves it", async () => {
    const { asked, ran, results } = await play({
      calls: ["look secret", "drop secret", "look a"],
      rules: await denying(),
      options: {
        beforeToolCall: (context) => {
          context.approve?.();
          return undefined;
        },
      },
    });
    assert.deepEqual([asked, ran], [[], ["look a"]]);
    const denied = "Denied: the policy of this server forbids it.";
    assert.deepEqual(results, [denied, denied, "done"]);
  });

  it("is denied by a rule before the agent's beforeToolCall can ask about it", async () => {
    const { asked, ran } = await play({
      calls: ["drop secret", "drop a"],
      rules: await denying(),
      options: { beforeToolCall: requireApproval() },
      answers: ["allow-once"],
    });
    assert.deepEqual([asked, ran], [["drop a"], ["drop a"]]);
  });

  it("is denied when the agent's beforeToolCall changes allowed arguments to denied ones", async () => {
    for (const beforeToolCall of [
      () => ({ args: { path: "secret" } }),
      ({ args }: { args: unknown }) => void Object.assign(args as object, { path: "secret" }),
    ] satisfies AgentOptions["beforeToolCall"][]) {
      const { asked, ran } = await play({
        calls: ["look a"],
        rules: await denying(),
        options: { beforeToolCall },
      });
      assert.deepEqual([asked, ran], [[], []]);
    }
  });

  it("needs approval when no rule names it, or by needsApproval unless a configured rule allows it", async () => {
    const rules = await loadRules([{ action: "allow", tool: "drop" }]);
    const { asked, ran } = await play({
      calls: ["look a", "drop b", "read c"],
      rules,
      answers: ["deny", "allow-once"],
    });
    // A default rule allows reading, but does not overrule the tool's needsApproval.
    assert.deepEqual(
      [asked, ran],
      [
        ["look a", "read c"],
        ["drop b", "read c"],
      ],
    );
  });
});
