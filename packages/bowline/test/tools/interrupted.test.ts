/** What the model is told, on every wire, of the tools that were at work when a run was aborted. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import {
  Agent,
  defineTool,
  getModel,
  messageText,
  type AgentTool,
  type RunResult,
} from "@bowline/core";
import { createScriptedModel, scriptedToolCall } from "@bowline/core/testing";
import { createTools } from "bowline/tools";
import { failing, loopback } from "../../../../test/support/loopback.ts";
import { createFolder } from "./folder.ts";

/** Prints 16 lines over a while, makes a file, and would go on for ever. */
const COMMAND =
  "for n in {1..16}; do echo line $n; sleep 0.08; done; touch made; echo ready; sleep 600";

/** Runs these calls, and aborts the run when a tool has reported `until`. */
async function interrupted(
  t: TestContext,
  calls: readonly (readonly [name: string, args: Record<string, unknown>])[],
  until: RegExp,
  more: AgentTool[] = [],
  abortGraceMs = 10_000,
): Promise<{ agent: Agent; run: RunResult; root: string; results: string[] }> {
  const { root, outputs } = createFolder(t);
  const content = calls.map(([name, args], number) =>
    scriptedToolCall(name, args, `call_${number}`),
  );
  const { model, streamFn } = createScriptedModel([{ content }]);
  const tools = [...createTools({ root, outputFolder: outputs }), ...more];
  const agent = new Agent({ initialState: { model, tools }, streamFn, abortGraceMs });
  agent.subscribe((event) => {
    if (event.type !== "tool_execution_update") return;
    const { content: shown = [] } = event.partialResult;
    if (until.test(messageText({ content: shown }))) agent.abort();
  });
  const run = await agent.prompt("Go");
  const results = run.messages.flatMap((message) =>
    message.role === "toolResult" ? [messageText(message)] : [],
  );
  return { agent, run, root, results };
}

/** Returns the text of the request that a vendor gets with the next message. */
async function nextRequest(agent: Agent, api: string): Promise<string> {
  await using server = await loopback(failing(400, {}));
  agent.state.model = getModel("custom", "m", { baseUrl: server.baseUrl, api });
  agent.streamFn = Agent.defaultStreamFn;
  agent.apiKey = "key";
  await agent.prompt("What did it do?");
  return JSON.stringify(JSON.parse(server.requests[0]?.body ?? "null"));
}

describe("after an abort the model is told", { concurrency: 3 }, () => {
  it("what a command had printed and when it was stopped, and which call did not start", async (t) => {
    const { agent, run, root, results } = await interrupted(
      t,
      [
        ["bash", { command: COMMAND }],
        ["write", { path: "later.txt", content: "x" }],
      ],
      /\nready\n$/,
    );
    assert.deepEqual([run.reason, existsSync(join(root, "made"))], ["aborted", true]);
    assert.ok(!existsSync(join(root, "later.txt")));
    const outcomes = run.tools.map(({ toolName, outcome }) => [toolName, outcome]);
    assert.deepEqual(outcomes, [
      ["bash", "stopped"],
      ["write", "not_started"],
    ]);
    assert.match(results[0] ?? "", /stopped after [\d.]+ s/);
    assert.ok(Number(/after ([\d.]+) s/.exec(results[0] ?? "")?.[1]) >= 1.2, results[0]);
    assert.equal(results[1], "Not run: The run was aborted.");
    const { messages } = agent.state;
    for (const api of [
      "openai-chat",
      "anthropic-messages",
      "openai-responses",
      "google-generate",
    ]) {
      agent.state.messages = messages.slice(0, 4);
      const body = await nextRequest(agent, api);
      const lines = Array.from({ length: 16 }, (_, number) => `line ${number + 1}\\n`).join("");
      assert.ok(body.includes(lines), body);
      assert.match(body, /stopped after \d/);
      assert.match(body, /Not run: The run was aborted\./);
      assert.doesNotMatch(body, /rejected|denied/i);
    }
  });

  it("the output so far of a tool that only throws its signal's reason", async (t) => {
    const polling = defineTool({
      name: "poll",
      description: "Polls.",
      parameters: { type: "object", properties: {} },
      execute: (_args, call) =>
        new Promise<string>((_resolve, reject) => {
          call.signal.addEventListener("abort", () => reject(call.signal.reason as Error));
          call.update("seen 1\nseen 2");
        }),
    });
    const { run, results } = await interrupted(t, [["poll", {}]], /seen 2/, [polling]);
    assert.deepEqual(
      run.tools.map(({ outcome }) => outcome),
      ["stopped"],
    );
    assert.equal(
      results[0],
      "The tool was stopped after less than 1 s. The run was aborted. Its output until then:\nseen 1\nseen 2",
    );
  });

  it("that a tool still runs, with its output so far, when it does not stop", async (t) => {
    const deaf = defineTool({
      name: "deaf",
      description: "Does not stop.",
      parameters: { type: "object", properties: {} },
      execute: (_args, call) => {
        call.update("step 1 done");
        return new Promise<string>(() => {});
      },
    });
    const { run, results } = await interrupted(t, [["deaf", {}]], /step 1/, [deaf], 1000);
    assert.deepEqual(
      run.tools.map(({ outcome }) => outcome),
      ["left_running"],
    );
    assert.match(
      results[0] ?? "",
      /^The run was aborted\. The tool was left running after (?:[\d.]+|less than 1) s and may still take effect\. Its output until then:\nstep 1 done$/,
    );
  });

  it("the result of a tool that finished within the grace period", async (t) => {
    const slow = defineTool({
      name: "slow",
      description: "Ends by itself.",
      parameters: { type: "object", properties: {} },
      execute: (_args, call) =>
        new Promise<string>((resolve) => {
          call.signal.addEventListener("abort", () => resolve("all done"));
          call.update("begun");
        }),
    });
    const { run, results } = await interrupted(t, [["slow", {}]], /begun/, [slow]);
    assert.deepEqual([run.tools[0]?.outcome, results[0]], ["finished", "all done"]);
  });
});
