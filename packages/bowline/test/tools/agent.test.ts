/** The tools in an agent, as an application uses them. */
import assert from "node:assert/strict";
import { readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { Agent, messageText, type AgentEvent } from "@bowline/core";
import { createScriptedModel, scriptedToolCall, type ScriptedStep } from "@bowline/core/testing";
import { createTools, type EditDetails, type ToolsOptions } from "bowline/tools";
import { createFolder, type Folder } from "./folder.ts";
import { endsWithin, isRunning, pidIn } from "./processes.ts";

interface Rig {
  readonly folder: Folder;
  readonly agent: Agent;
  readonly events: readonly AgentEvent[];
  /** Returns the texts of the tool results so far. */
  readonly results: () => string[];
}

function createRig(
  t: TestContext,
  steps: readonly ScriptedStep[],
  options: Omit<ToolsOptions, "root"> = {},
): Rig {
  const folder = createFolder(t);
  const { model, streamFn } = createScriptedModel(steps);
  const tools = createTools({ root: folder.root, outputFolder: folder.outputs, ...options });
  // A busy machine takes seconds to kill a process group.
  const agent = new Agent({ initialState: { model, tools }, streamFn, abortGraceMs: 20_000 });
  const events: AgentEvent[] = [];
  agent.subscribe((event) => void events.push(event));
  const results = (): string[] =>
    agent.state.messages.flatMap((message) =>
      message.role === "toolResult" ? [messageText(message)] : [],
    );
  return { folder, agent, events, results };
}

describe("an agent with the tools of bowline/tools", { concurrency: 3 }, () => {
  it("reads, edits and runs in its working directory", async (t) => {
    const { folder, agent, events, results } = createRig(t, [
      {
        content: [
          scriptedToolCall("glob", { pattern: "*" }),
          scriptedToolCall("grep", { pattern: "a - b" }),
        ],
      },
      { content: [scriptedToolCall("read", { path: "sum.sh" })] },
      {
        content: [scriptedToolCall("edit", { path: "sum.sh", oldText: "a - b", newText: "a + b" })],
      },
      {
        content: [
          scriptedToolCall("bash", { command: "bash sum.sh" }),
          scriptedToolCall("write", { path: "out/sum.txt", content: "5\n" }),
        ],
      },
      "It prints 5 now.",
    ]);
    const before = "a=2 b=3\necho $((a - b))\n";
    folder.put("sum.sh", before);
    const { reason, message } = await agent.prompt("The sum is wrong.");
    assert.equal(reason, "done");
    assert.equal(message && messageText(message), "It prints 5 now.");
    assert.deepEqual(results(), [
      "sum.sh",
      "sum.sh:2:echo $((a - b))",
      before,
      "Edited sum.sh: 1 replacement (first at line 2)",
      "5\n",
      "Created out/sum.txt (2 bytes)",
    ]);
    assert.equal(folder.get("sum.sh"), "a=2 b=3\necho $((a + b))\n");
    assert.equal(folder.get("out/sum.txt"), "5\n");
    const edited = events.find(
      (event) => event.type === "tool_execution_end" && event.toolName === "edit",
    );
    assert.ok(edited?.type === "tool_execution_end");
    const { diff } = edited.result.details as EditDetails;
    assert.match(diff, /\n-echo \$\(\(a - b\)\)\n\+echo \$\(\(a \+ b\)\)\n/);
  });

  it("reports a path outside the folder as an error, and continues", async (t) => {
    const paths = ["../outside/secret.txt", "/etc/passwd", "link/secret.txt"];
    const { folder, agent, results } = createRig(t, [
      { content: paths.map((path, index) => scriptedToolCall("read", { path }, `call-${index}`)) },
      { content: [scriptedToolCall("write", { path: "../outside/new.txt", content: "" })] },
      "I cannot.",
    ]);
    writeFileSync(join(folder.outside, "secret.txt"), "secret");
    symlinkSync(folder.outside, folder.at("link"));
    const { reason } = await agent.prompt("Read the secret.");
    assert.equal(reason, "done");
    const refusal = (path: string): string =>
      `Error: ${path} is outside the working directory ${folder.root}`;
    assert.deepEqual(results(), [...paths, "../outside/new.txt"].map(refusal));
    assert.deepEqual(readdirSync(folder.outside), ["secret.txt"]);
    assert.ok(
      agent.state.messages.every((message) => message.role !== "toolResult" || message.isError),
    );
  });

  it("shows head and tail of long output, and streams it while it arrives", async (t) => {
    const { folder, agent, events, results } = createRig(
      t,
      [
        {
          content: [
            scriptedToolCall("bash", {
              command: "seq 1 1000; until [ -e shown ]; do sleep 0.02; done; echo end",
            }),
          ],
        },
        "Done.",
      ],
      { limits: { resultCharacters: 1000 } },
    );
    // The command goes on when all its output so far was shown, however busy the machine is.
    agent.subscribe((event) => {
      if (event.type !== "tool_execution_update") return;
      const shown = messageText({ content: event.partialResult.content ?? [] });
      if (shown.endsWith("\n1000\n")) folder.put("shown", "");
    });
    await agent.prompt("Count.");
    const [text = ""] = results();
    assert.ok(text.startsWith("1\n2\n3\n") && text.endsWith("\n999\n1000\nend\n"), text);
    const gap = new RegExp(
      `\\n\\[2897 characters left out here; the full output is in ${folder.outputs}/\\S+\\]\\n`,
    );
    assert.match(text, gap);
    const updates = events.flatMap((event) =>
      event.type === "tool_execution_update" ? [event.partialResult] : [],
    );
    const texts = updates.map(({ content = [] }) => messageText({ content }));
    assert.ok(texts.some((shown) => shown.endsWith("\n1000\n")));
    assert.match(texts.at(-1) ?? "", /^1\n2\n[^]*\n1000\nend\n$/);
  });

  it("ends the process group of an aborted command, and keeps the output so far", async (t) => {
    const command = "trap '' TERM; sleep 60 & echo $$ $!; wait; while :; do sleep 1; done";
    const { agent, results } = createRig(t, [
      { content: [scriptedToolCall("bash", { command })] },
      "never said",
    ]);
    let pids: number[] = [];
    let aborted = 0;
    agent.subscribe((event) => {
      if (event.type !== "tool_execution_update") return;
      pids = messageText({ content: event.partialResult.content ?? [] })
        .trim()
        .split(" ")
        .map(pidIn);
      assert.ok(pids.length === 2 && pids.every(isRunning));
      aborted = performance.now();
      agent.abort();
    });
    const { reason } = await agent.prompt("Wait.");
    assert.ok(performance.now() - aborted < 30_000);
    assert.equal(reason, "aborted");
    assert.match(
      results()[0] ?? "",
      /^Error: The command was stopped after [\d.]+ s .*its output until then:\n\d+ \d+\n$/s,
    );
    for (const pid of pids) assert.ok(await endsWithin(pid, 20_000), `${pid}`);
  });
});
