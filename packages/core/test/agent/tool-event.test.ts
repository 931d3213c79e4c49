import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { z } from "zod";
import { Agent, defineTool, isEventOf, requireApproval } from "../../src/index.ts";
import { createScriptedModel, scriptedToolCall } from "../../src/testing/index.ts";
import { tool } from "../support.ts";

const buy = defineTool({
  name: "buy",
  description: "Buys something",
  parameters: z.object({ euros: z.coerce.number() }),
  needsApproval: true,
  execute: ({ euros }) => ({
    content: [{ type: "text", text: "Bought." }],
    details: { receipt: `R${euros}` },
  }),
});

describe("isEventOf()", () => {
  it("recognises a tool's events and types their fields", async () => {
    const { model, streamFn } = createScriptedModel([
      { content: [scriptedToolCall("buy", { euros: "5" }), scriptedToolCall("look", {})] },
      "Done.",
    ]);
    const agent = new Agent({
      model,
      streamFn,
      tools: [buy, tool("look", () => "seen")],
      beforeToolCall: requireApproval({ timeoutMs: 1000 }),
    });
    const seen: unknown[] = [];
    agent.subscribe((event) => {
      if (!isEventOf(buy, event)) return;
      if (event.type === "approval_request") {
        seen.push(event.args.euros + 1);
        agent.answer(event.approvalId, { decision: "allow" });
      } else if (event.type === "tool_execution_end")
        seen.push(event.result.details?.receipt.toLowerCase());
      else seen.push(event.args.euros);
    });
    await agent.prompt("Go");
    assert.deepEqual(seen, ["5", 6, "r5"]);
  });
});
