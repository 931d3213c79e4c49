/** The formats on recorded answers of real services, served on loopback, and with real tools. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import { defineTool } from "@bowline/core/agent";
import * as codelet from "../src/codelet/index.ts";
import * as karl from "../src/karl/index.ts";
import {
  isBowlineError,
  messageText,
  toolCallsOf,
  type AssistantMessage,
  type StreamFn,
  complete,
  getModel,
} from "@bowline/core";
import { streamAnthropicMessages } from "@bowline/core/anthropic-messages";
import { streamOpenaiChat } from "@bowline/core/openai-chat";
import { finalMessage } from "../../../test/support/final-message.ts";
import { loopback, type Handler, type Loopback } from "../../../test/support/loopback.ts";
import { loadRecordings, missing, type Recording } from "../../../test/support/recordings.ts";
import { eventsOf, type StrictApi } from "../../../test/support/strict-server.ts";

const wires = {
  openai: { api: "openai-chat", streamFn: streamOpenaiChat },
  anthropic: { api: "anthropic-messages", streamFn: streamAnthropicMessages },
} as const;
const skip = missing ?? false;

/** Answers with the recording first, then with a plain text. */
function replay({ status, body }: Recording, api: StrictApi): Promise<Loopback> {
  const recorded: Handler = (response) => {
    response.writeHead(status, {
      "content-type": status < 400 ? "text/event-stream" : "application/json",
    });
    response.end(body);
  };
  const plain: Handler = (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(eventsOf(api, { text: "Ok" }, 2).join(""));
  };
  return loopback(recorded, plain);
}

/** The recorded answer as the wire reads it without the loop. */
function answerOf(
  { status, body }: Recording,
  { api, streamFn }: { readonly api: StrictApi; readonly streamFn: StreamFn },
): Promise<AssistantMessage> {
  const headers = { "content-type": status < 400 ? "text/event-stream" : "application/json" };
  const model = getModel("recorded", "recorded", { api, baseUrl: "http://recorded.test/v1" });
  const context = { messages: [{ role: "user", content: "Go", timestamp: 0 } as const] };
  const fetch = async (): Promise<Response> =>
    new Response(Uint8Array.from(body), { status, headers });
  return finalMessage(complete(model, context, { fetch, apiKey: "k", maxRetries: 0 }, streamFn));
}

describe("karl's loop on recorded answers", () => {
  for (const [apiFormat, service, least] of [
    ["openai", "OpenAI", 2],
    ["openai", "OpenRouter", 2],
    ["openai", "another server", 10],
    ["anthropic", "Anthropic", 10],
  ] as const) {
    it(
      // Requirements: K4, K53
      `yields the text, calls and failures that the wire reads from ${service}`,
      { skip },
      async () => {
        const wire = wires[apiFormat];
        const isNamed =
          (name: string) =>
          ({ file }: Recording): boolean =>
            file.startsWith(`${name.toLowerCase()}-`);
        const all = loadRecordings(wire.api);
        const others = all.filter(
          (recording) => !isNamed("OpenAI")(recording) && !isNamed("OpenRouter")(recording),
        );
        const chosen = service === "another server" ? others : all.filter(isNamed(service));
        assert.ok(chosen.length >= least, `${chosen.length} recordings of ${service}`);
        for (const recording of chosen) {
          const message = await answerOf(recording, wire);
          await using server = await replay(recording, wire.api);
          const config = {
            model: "recorded",
            baseUrl: server.baseUrl,
            apiKey: "k",
            apiFormat,
          } as const;
          let first: karl.Message | undefined;
          let error: unknown;
          try {
            for await (const event of karl.agentLoop("", "Go", [], config)) {
              if (event.type === "message_end") first ??= event.message;
            }
          } catch (thrown) {
            error = thrown;
          }
          if (recording.status >= 400 || message.stopReason === "error") {
            assert.ok(isBowlineError(error), recording.file);
            continue;
          }
          assert.equal(error, undefined, recording.file);
          assert.equal(first?.content, messageText(message), recording.file);
          const calls = first?.tool_calls?.map((call) => [
            call.function.name,
            JSON.parse(call.function.arguments) as object,
          ]);
          assert.deepEqual(
            calls ?? [],
            toolCallsOf(message).map((call) => [call.name, call.arguments]),
            recording.file,
          );
        }
      },
    );
  }
});

describe("codelet's provider on recorded answers of Anthropic", () => {
  // Requirements: C26
  it("returns the blocks that the wire reads", { skip }, async () => {
    const recordings = loadRecordings("anthropic-messages");
    assert.ok(recordings.length > 10);
    for (const recording of recordings) {
      const message = await answerOf(recording, wires.anthropic);
      await using server = await replay(recording, "anthropic-messages");
      const model = getModel("anthropic", "recorded", { baseUrl: server.baseUrl });
      const provider = new codelet.ModelProvider(model, { apiKey: "k" });
      const response = await provider.completeWithTools([codelet.Message.user("Go")], []);
      const text = response.content
        .flatMap((block) => (block.type === "text" ? [block.text] : []))
        .join("");
      const calls = response.content.flatMap((block) =>
        block.type === "toolUse" ? [block.input] : [],
      );
      assert.deepEqual(
        [text, calls],
        [messageText(message), toolCallsOf(message).map((call) => call.arguments)],
        recording.file,
      );
    }
  });
});

describe("codelet's runner with Claude on loopback", () => {
  // Requirements: C26
  it("reads files, writes files and runs commands for the model, with real tools", async () => {
    const folder = await mkdtemp(join(tmpdir(), "bowline-compat-"));
    try {
      await writeFile(join(folder, "a.txt"), "knot");
      const object = (...names: string[]) => ({
        type: "object",
        properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])),
        required: names,
      });
      const tools = codelet.ToolRegistry.default([
        defineTool({
          name: "Read",
          description: "Reads.",
          parameters: object("path"),
          execute: ({ path }) => readFile(join(folder, path), "utf8"),
        }),
        defineTool({
          name: "Write",
          description: "Writes.",
          parameters: object("path", "text"),
          execute: async ({ path, text }) => {
            await writeFile(join(folder, path), text);
            return "written";
          },
        }),
        defineTool({
          name: "Bash",
          description: "Runs.",
          parameters: object("command"),
          execute: async ({ command }) =>
            (await promisify(execFile)("bash", ["-c", command], { cwd: folder })).stdout,
        }),
      ]);
      const answers = [
        [
          { type: "tool_use", id: "t1", name: "Read", input: { path: "a.txt" } },
          { type: "tool_use", id: "t2", name: "Write", input: { path: "b.txt", text: "two" } },
        ],
        [
          { type: "tool_use", id: "t3", name: "Bash", input: { command: "cat a.txt b.txt" } },
          { type: "tool_use", id: "t4", name: "Read", input: { path: "gone" } },
        ],
        [{ type: "text", text: "Done." }],
      ].map((content): Handler => (response) => {
        const stop_reason = content.length > 1 ? "tool_use" : "end_turn";
        response.writeHead(200, { "content-type": "application/json" });
        const about = {
          id: "m",
          type: "message",
          role: "assistant",
          model: "claude-x",
          usage: { input_tokens: 1, output_tokens: 1 },
        };
        response.end(JSON.stringify({ ...about, content, stop_reason }));
      });
      await using server = await loopback(...answers);
      const provider = new codelet.ClaudeProvider("sk-1", "claude-x", { baseUrl: server.baseUrl });
      const history = await codelet.Runner.withProvider(provider, { tools }).run("Go");
      const results = history
        .flatMap(({ content }) => (typeof content === "string" ? [] : content))
        .filter((part) => part.type === "toolResult");
      assert.deepEqual(
        results.map(({ toolUseId, content, isError }) => [toolUseId, isError ? "failed" : content]),
        [
          ["t1", "knot"],
          ["t2", "written"],
          ["t3", "knottwo"],
          ["t4", "failed"],
        ],
      );
      assert.equal(await readFile(join(folder, "b.txt"), "utf8"), "two");
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
