/**
 * `bowline run` against aimock, a third-party model server, over two wires, with a real tool on a
 * real file.
 */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { LLMock } from "@copilotkit/aimock";
import { bowline, temporary } from "./command.ts";

const wires = [
  { model: "openai/x", key: "OPENAI_API_KEY", path: "/v1/chat/completions" },
  { model: "anthropic/claude-x", key: "ANTHROPIC_API_KEY", path: "/v1/messages" },
];

/**
 * A server that requests a file and answers from its content. It answers anything else with a 503.
 */
async function mockServer(): Promise<LLMock> {
  const mock = new LLMock({ port: 0, strict: true, auth: { apiKeys: ["test-key"] } });
  const asks = { userMessage: "what is in notes.txt" };
  const calls = [{ name: "read", arguments: { path: "notes.txt" } }];
  mock.on({ ...asks, hasToolResult: false }, { content: "I will read it.", toolCalls: calls });
  mock.on(
    { ...asks, hasToolResult: true, toolResultContains: "bring rope" },
    { content: "It says: bring rope." },
  );
  await mock.start();
  return mock;
}

describe("bowline run with aimock", () => {
  for (const { model, key, path } of wires) {
    it(`reads a file with ${model} and answers on standard output`, async () => {
      await using folder = await temporary();
      await writeFile(join(folder.path, "notes.txt"), "bring rope\n");
      const mock = await mockServer();
      try {
        const args = [
          "run",
          "--base-url",
          `${mock.url}/v1`,
          "--model",
          model,
          "what is in notes.txt?",
        ];
        const { code, stdout, stderr } = await bowline(args, {
          cwd: folder.path,
          env: { [key]: "test-key" },
        });
        assert.deepEqual([code, stdout], [0, "It says: bring rope.\n"], stderr);
        assert.match(stderr, /→ read \{"path":"notes\.txt"\}\n✓ read \(\d+ ms\)/);
        assert.match(stderr, /2 turns, 1 tool call/);
        assert.ok(!stderr.includes("test-key"), stderr);
        assert.deepEqual(
          mock.getRequests().map((request) => [request.path, request.response.status]),
          [
            [path, 200],
            [path, 200],
          ],
        );
      } finally {
        await mock.stop();
      }
    });

    it(`reports on one line that ${model} rejected the key`, async () => {
      const mock = await mockServer();
      try {
        const args = [
          "run",
          "--base-url",
          `${mock.url}/v1`,
          "--model",
          model,
          "what is in notes.txt?",
        ];
        const { code, stdout, stderr } = await bowline(args, { env: { [key]: "wrong-key" } });
        assert.deepEqual([code, stdout], [1, ""], stderr);
        assert.match(stderr, /^bowline: .*(?:401|refused the API key)/m);
        assert.ok(!stderr.includes("wrong-key") && !/^\s+at /m.test(stderr), stderr);
      } finally {
        await mock.stop();
      }
    });
  }
});
