/** Ollama's native chunks, which arrive when a base URL lacks its `/v1` (Q024). */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AssistantMessage } from "../../../src/llm/message.ts";
import { streamOpenaiCompatible } from "../../../src/providers/openai-chat/index.ts";
import { getModel } from "../../../src/providers/vendors.ts";
import { asJson } from "../../transport/http-case.ts";
import { http, serveBytes } from "../../transport/http-server.ts";

async function read(...chunks: readonly object[]): Promise<AssistantMessage> {
  const body = chunks.map((chunk) => `${JSON.stringify({ model: "llama3", ...chunk })}\n`).join("");
  await using server = await serveBytes([
    http(200, { ...asJson, "content-type": "application/x-ndjson" }, body),
  ]);
  const model = getModel("custom", "m", { baseUrl: `${server.origin}/api` });
  const context = {
    messages: [{ role: "user" as const, content: "Hi", timestamp: 1 }],
    tools: [
      {
        name: "get_weather",
        description: "Weather.",
        parameters: { type: "object", properties: {} },
      },
    ],
  };
  return await streamOpenaiCompatible(model, context, { maxRetries: 0 }).result();
}

const say = (content: string, more: object = {}): object => ({
  message: { role: "assistant", content, ...more },
  done: false,
});
const end = (reason?: string): object => ({
  message: { role: "assistant", content: "" },
  done: true,
  ...(reason !== undefined && { done_reason: reason }),
  prompt_eval_count: 7,
  eval_count: 3,
});

describe("Ollama's own stream", () => {
  // Q024
  it("is read as chat: thoughts, text and counts", async () => {
    const message = await read(say("", { thinking: "hm" }), say("Hel"), say("lo."), end("stop"));
    assert.deepEqual(
      message.content.map((part) =>
        part.type === "thinking" ? part.thinking : part.type === "text" && part.text,
      ),
      ["hm", "Hello."],
    );
    const { stopReason, responseModel, usage } = message;
    assert.deepEqual(
      [stopReason, responseModel, usage.input, usage.output],
      ["stop", "llama3", 7, 3],
    );
  });

  // Q024
  it("has tool calls without ids, with arguments as an object", async () => {
    const call = { function: { name: "get_weather", arguments: { city: "Oslo" } } };
    const message = await read(say("", { tool_calls: [call] }), end("stop"));
    const [part] = message.content;
    assert.equal(message.stopReason, "toolUse");
    assert.ok(part?.type === "toolCall" && part.id !== "");
    assert.deepEqual([part.name, part.arguments], ["get_weather", { city: "Oslo" }]);
  });

  // Q024
  it("can be cut by a limit, or by its end, like any other", async () => {
    assert.equal((await read(say("Hel"), end("length"))).stopReason, "length");
    assert.equal((await read(say("Hel"), end())).stopReason, "stop");
    const cut = await read(say("Hel"));
    assert.deepEqual([cut.stopReason, cut.error?.code], ["error", "stream_truncated"]);
  });
});
