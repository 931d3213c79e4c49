/** What a request keeps of the agent's settings, and when a try with a vendor's tool is repeated. */
import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { describe, it } from "node:test";
import type { StreamOptions } from "../../../src/llm/model.ts";
import {
  anthropic,
  streamAnthropicMessages,
} from "../../../src/providers/anthropic-messages/index.ts";
import { streamByProtocol } from "../../../src/providers/by-protocol.ts";
import { createFailover } from "../../../src/providers/failover.ts";
import { getModel } from "../../../src/providers/vendors.ts";
import { apis, tool } from "../../support.ts";
import { failing, loopback, streamed } from "../../../../../test/support/loopback.ts";
import * as wire from "../anthropic-messages/events.ts";

const messages = [{ role: "user" as const, content: "Hi", timestamp: 0 }];

async function bodyOf(api: string, options: StreamOptions): Promise<Record<string, unknown>> {
  await using server = await loopback(failing(400, { error: { message: "Enough." } }));
  const model = { ...getModel("mine", "m", { baseUrl: server.baseUrl, api }), reasoning: true };
  const context = { messages, tools: [tool("look", () => "")] };
  const stream = await streamByProtocol(model, context, { maxRetries: 0, ...options });
  for await (const event of stream)
    if (event.type === "error" && event.error.error?.code === "invalid_argument")
      throw new Error(event.error.errorMessage);
  return JSON.parse(server.requests[0]?.body ?? "{}") as Record<string, unknown>;
}

describe("extraBody", () => {
  for (const api of apis) {
    it(`drops no tool of the agent's on ${api}`, async () => {
      for (const tools of [undefined, [], [{ type: "own" }]]) {
        const { tools: sent } = await bodyOf(api, { extraBody: { tools } });
        assert.match(JSON.stringify(sent), /"look"/);
        assert.equal((sent as unknown[]).length, 1 + (tools ?? []).length);
      }
      await assert.rejects(bodyOf(api, { extraBody: { tools: { type: "own" } } }), {
        message: "extraBody.tools must be a list, since it is added to the agent's.",
      });
    });
  }

  it("adds to what Responses includes", async () => {
    const { include } = await bodyOf("openai-responses", { extraBody: { include: ["a"] } });
    assert.deepEqual(include, ["reasoning.encrypted_content", "a"]);
  });

  it("merges settings, and replaces values with a type", async () => {
    const { generationConfig } = await bodyOf("google-generate", {
      maxTokens: 9,
      extraBody: { generationConfig: { topK: 5 } },
    });
    assert.deepEqual(generationConfig, { maxOutputTokens: 9, topK: 5 });
    const { thinking, max_tokens } = await bodyOf("anthropic-messages", {
      reasoning: "low",
      extraBody: { thinking: { type: "disabled" }, max_tokens: 7 },
    });
    assert.deepEqual([thinking, max_tokens], [{ type: "disabled" }, 7]);
  });

  it("may have names of the language", async () => {
    const extraBody = JSON.parse('{"__proto__": {"a": 1}, "constructor": 2}') as object;
    const body = await bodyOf("openai-chat", { extraBody: { ...extraBody } });
    assert.equal(body.constructor, 2);
  });
});

describe("a try in which only a server tool was at work", () => {
  const call = { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} };
  const broken = streamed(wire.begin(), wire.start(0, call));
  const whole = streamed(wire.begin(), ...wire.text(0, "Hello"), wire.end("end_turn"), wire.over);

  it("is withdrawn and repeated", async () => {
    await using server = await loopback(broken, whole);
    const model = getModel("mine", "m", { baseUrl: server.baseUrl, api: "anthropic-messages" });
    const tools = [anthropic.webSearch()];
    const said: string[] = [];
    const stream = streamAnthropicMessages(model, { messages, tools }, { random: () => 0 });
    for await (const event of stream) said.push(event.type);
    assert.deepEqual(said, [
      "start",
      "provider_tool",
      "message_retract",
      "request_retry",
      "start",
      "text_start",
      "text_delta",
      "text_end",
      "done",
    ]);
    assert.equal(server.requests.length, 2);
  });
});

describe("a model that fails while a server tool is at work", () => {
  it("is withdrawn, and another one answers", async () => {
    const call = { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} };
    const slow = (response: ServerResponse): void => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(wire.sse(wire.begin(), wire.start(0, call)));
      setTimeout(() => response.end(), 20);
    };
    const whole = streamed(wire.begin(), ...wire.text(0, "Hello"), wire.end("end_turn"), wire.over);
    await using server = await loopback(slow, whole);
    const model = getModel("mine", "m", { baseUrl: server.baseUrl, api: "anthropic-messages" });
    const streamFn = createFailover({
      streamFn: streamAnthropicMessages,
      models: [{ ...model, id: "n" }],
    });
    const said: string[] = [];
    const stream = streamFn(model, { messages }, { maxRetries: 0 });
    for await (const event of stream) said.push(event.type);
    assert.deepEqual(said.slice(0, 5), [
      "start",
      "provider_tool",
      "message_retract",
      "model_failover",
      "start",
    ]);
    assert.equal((await stream.result()).model, "n");
  });
});

describe("sources and media", () => {
  it("count towards the longest answer", async () => {
    const citation = { url: "https://a.org", cited_text: "x".repeat(1000) };
    const cited = streamed(
      wire.begin(),
      wire.start(0, { type: "text", text: "Yes.", citations: [citation] }),
      wire.stop(0),
      wire.end("end_turn"),
      wire.over,
    );
    for (const [maxAnswerLength, code] of [
      [1000, "stream_corrupt"],
      [1100, undefined],
    ] as const) {
      await using server = await loopback(cited);
      const model = getModel("mine", "m", { baseUrl: server.baseUrl, api: "anthropic-messages" });
      const options = { maxAnswerLength, maxRetries: 0 };
      const { error } = await streamAnthropicMessages(model, { messages }, options).result();
      assert.equal(error?.code, code);
    }
  });
});
