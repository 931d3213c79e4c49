/** A computer that the program controls: its actions are ordinary calls, with a screenshot as result. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Agent, type AgentTool } from "../../../src/index.ts";
import { anthropic } from "../../../src/providers/anthropic-messages/index.ts";
import {
  openai,
  type OpenaiComputerActions,
} from "../../../src/providers/openai-responses/index.ts";
import { getModel } from "../../../src/providers/vendors.ts";
import { loopback, streamed } from "../../../../../test/support/loopback.ts";
import * as messages from "../anthropic-messages/events.ts";
import { added, completed, created, done, message, read, sse } from "../openai-responses/events.ts";

const click = { type: "click", button: "left", x: 1, y: 2 };
const call = {
  type: "computer_call",
  id: "cu_1",
  call_id: "call_1",
  status: "completed",
  actions: [click],
  pending_safety_checks: [{ id: "sc_1", code: "malicious_instructions" }],
};
const screenshot = { type: "image", data: "aW1hZ2U=", mimeType: "image/png" } as const;

async function run(tool: AgentTool): Promise<Record<string, unknown>[]> {
  const calling = streamed(
    created(),
    added(0, { ...call, actions: [] }),
    done(0, call),
    completed(),
  );
  const ending = streamed(created(), done(0, message("Done.")), completed());
  await using server = await loopback(calling, ending);
  const model = getModel("mine", "m", {
    baseUrl: server.baseUrl,
    api: "openai-responses",
    input: ["text", "image"],
  });
  const { text } = await new Agent({ model, tools: [tool] }).prompt("Click.");
  assert.equal(text, "Done.");
  const { input } = JSON.parse(server.requests[1]?.body ?? "") as {
    input: Record<string, unknown>[];
  };
  return input.slice(1);
}

describe("a computer on Responses", () => {
  it("gets the actions, and its screenshot answers the call", async () => {
    const got: OpenaiComputerActions[] = [];
    const tool = openai.computer({
      execute(_id, params) {
        got.push(params);
        return { content: [screenshot] };
      },
    });
    assert.deepEqual(await run(tool), [
      call,
      {
        type: "computer_call_output",
        call_id: "call_1",
        output: { type: "computer_screenshot", image_url: "data:image/png;base64,aW1hZ2U=" },
        acknowledged_safety_checks: call.pending_safety_checks,
      },
    ]);
    assert.deepEqual(got, [{ actions: [click], pendingSafetyChecks: call.pending_safety_checks }]);
  });

  it("that fails confirms no safety check, and says why", async () => {
    const tool = openai.computer({
      execute() {
        throw new Error("No display.");
      },
    });
    const [, output, note] = await run(tool);
    assert.equal(output?.type, "computer_call_output");
    assert.equal("acknowledged_safety_checks" in (output ?? {}), false);
    assert.match(JSON.stringify(output), /data:image\/png;base64,/);
    assert.deepEqual(note, {
      type: "message",
      role: "user",
      content: [{ type: "input_text", text: "No display." }],
    });
  });

  it("is not called if it was not declared", () => {
    const { message: answered } = read(
      sse(created(), done(0, call), done(1, message("Hm.")), completed()),
    );
    assert.deepEqual(
      answered.content.map(({ type }) => type),
      ["opaque", "text"],
    );
  });

  it("is read alike with and without the output list, and from one action", () => {
    for (const output of [[], [call]]) {
      const { message: answered } = read(sse(created(), completed({ output: [call] })), [
        "computer",
      ]);
      const { message: streamedAnswer } = read(
        sse(created(), added(0, call), done(0, call), completed({ output })),
        ["computer"],
      );
      assert.deepEqual(streamedAnswer.content, answered.content);
      assert.equal(streamedAnswer.stopReason, "toolUse");
    }
    const { actions: _, ...old } = call;
    const { message: one } = read(sse(created(), done(0, { ...old, action: click }), completed()), [
      "computer",
    ]);
    const [part] = one.content;
    assert.deepEqual(part?.type === "toolCall" && part.arguments.actions, [click]);
  });
});

describe("a computer on Messages", () => {
  it("is called as any tool", async () => {
    const use = messages.toolUse("toolu_1", "computer", { action: "screenshot" });
    const calling = streamed(
      messages.begin(),
      messages.start(0, use),
      messages.stop(0),
      messages.end("tool_use"),
      messages.over,
    );
    const ending = streamed(
      messages.begin(),
      ...messages.text(0, "Done."),
      messages.end("end_turn"),
      messages.over,
    );
    await using server = await loopback(calling, ending);
    const model = getModel("mine", "m", { baseUrl: server.baseUrl, api: "anthropic-messages" });
    const got: unknown[] = [];
    const tool = anthropic.computer({
      displayWidthPx: 800,
      displayHeightPx: 600,
      execute(_id, action) {
        got.push(action);
        return { content: [screenshot] };
      },
    });
    const { text } = await new Agent({ model, tools: [tool] }).prompt("Look.");
    assert.deepEqual([text, got], ["Done.", [{ action: "screenshot" }]]);
  });
});
