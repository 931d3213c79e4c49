/**
 * Model calls through a proxy over real sockets: what is transmitted, what is not, and how each
 * side stops the other.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { BowlineError } from "../../../src/errors.ts";
import { Agent, streamProxy } from "../../../src/index.ts";
import { reduceEvents } from "../../../src/llm/event.ts";
import { messageText, type AssistantContent, type Context } from "../../../src/llm/message.ts";
import type { StreamFn, StreamOptions } from "../../../src/llm/model.ts";
import { EventStream } from "../../../src/llm/stream.ts";
import { MessageWriter } from "../../../src/llm/writer.ts";
import { streamOpenaiChat } from "../../../src/providers/openai-chat/index.ts";
import { createFailover } from "../../../src/providers/failover.ts";
import { getModel } from "../../../src/providers/vendors.ts";
import { createScriptedModel, scriptedToolCall } from "../../../src/testing/index.ts";
import { serveFetch } from "../../../../../test/support/fetch-server.ts";
import { chatText, failing, loopback, type Handler } from "../../../../../test/support/loopback.ts";
import { asked, call, hello, inProcess, serve } from "./rig.ts";
import { deferred } from "../../../../../test/support/deferred.ts";
import { within } from "../../../../../test/support/within.ts";
import { tool } from "../../support.ts";
import { transcripts } from "../transcripts.ts";

const everything: AssistantContent[] = [
  { type: "thinking", thinking: "Let me see 🌍.", thinkingSignature: "c2ln", field: "reasoning" },
  { type: "thinking", thinking: "", thinkingSignature: "ZW5j", redacted: true },
  { type: "text", text: "Two files, then\r\n\u2028 one search. \ud83d", textSignature: "t" },
  scriptedToolCall("read", { path: "a" }, "call_1"),
  {
    type: "toolCall",
    id: "call_2",
    name: "read",
    arguments: {},
    argumentsText: '{"path":',
    thoughtSignature: "g",
  },
  {
    type: "opaque",
    protocol: "anthropic-messages",
    raw: { type: "server_tool_use", id: "s", input: { q: ["x"] } },
  },
  {
    type: "source",
    url: "https://a.org",
    title: "A",
    name: "a",
    mimeType: "text/html",
    citedText: "x",
    supportedText: "y",
    textIndex: 2,
  },
  { type: "image", data: "aW1hZ2U=", mimeType: "image/png" },
  { type: "file", data: "c291bmQ=", mimeType: "audio/wav", name: "a.wav" },
];
const usage = {
  input: 10,
  output: 20,
  cacheRead: 3,
  reasoning: 4,
  totalTokens: 33,
  providerTools: { web_search: 2 },
  cost: { input: 1, total: 2 },
};

describe("a call through a proxy", () => {
  const endings: Record<string, object> = {
    "text, thinking, calls and opaque parts": { content: everything, usage },
    "a cut answer": {
      content: everything.slice(2, 3),
      stopReason: "length",
      usage: { output: 1 },
    },
    "an empty answer": { content: [] },
    "a failure after output": {
      content: everything.slice(0, 3),
      error: new BowlineError("rate_limited", "slow down", {
        status: 429,
        retryable: true,
        retryAfterMs: 5,
        requestId: "r",
      }),
    },
    "a failure before output": {
      content: [],
      error: new BowlineError("context_overflow", "too long", { status: 400 }),
    },
  };
  for (const [what, answer] of Object.entries(endings)) {
    it(`gives the same message as the server has: ${what}`, async () => {
      const { handler, own } = serve([answer]);
      await using server = await serveFetch(handler);
      const { message, events } = await call(server.url);
      assert.deepEqual(message, await own[0]);
      const replayed = reduceEvents(JSON.parse(JSON.stringify(events)));
      assert.deepEqual(replayed, message);
    });
  }

  it("reports the cost of failed tries before the answer", async () => {
    const lost = { input: 5, output: 1, cost: { total: 0.5 } };
    const error = new BowlineError("overloaded", "No.");
    const script = createScriptedModel([
      { usage: lost, error },
      { content: [{ type: "text", text: "Hi" }], usage },
    ]);
    const streamFn = createFailover({ streamFn: script.streamFn, models: [script.model] });
    const { handler } = serve([], { streamFn });
    const { message } = await call("http://proxy.invalid", { fetch: inProcess(handler) });
    assert.deepEqual([message.usage, message.discardedUsage], [usage, { ...lost, totalTokens: 6 }]);
  });

  it("transmits any message and any transcript unchanged", async () => {
    await fc.assert(
      fc.asyncProperty(
        transcripts(asked),
        fc.integer({ min: 1, max: 9 }),
        async (messages, deltaLength) => {
          const answers = messages
            .filter((message) => message.role === "assistant")
            .map(({ content, stopReason }) => ({ content, stopReason }));
          const { handler, own, script } = serve(answers, {}, deltaLength);
          for (const [index] of answers.entries()) {
            const { message } = await call(
              "http://proxy.invalid",
              { fetch: inProcess(handler) },
              { messages },
            );
            assert.deepEqual(message, await own[index]);
            assert.deepEqual(script.calls[index]?.context, {
              messages: JSON.parse(JSON.stringify(messages)) as unknown,
            });
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  it("reports retries, failovers and withdrawn output", async () => {
    const cut: Handler = (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(
        `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: "Hel" } }] })}\n\n`,
      );
    };
    await using flaky = await loopback(
      failing(503, "busy"),
      failing(401, "no such key"),
      cut,
      chatText("Hello again"),
    );
    const { script, handler } = serve(["Hello"], {
      allowModel: () => getModel("custom", "slow", { baseUrl: flaky.baseUrl }),
      streamFn: createFailover({
        streamFn: (model, ...rest) =>
          model.api === "scripted"
            ? script.streamFn(model, ...rest)
            : streamOpenaiChat(model, ...rest),
        models: [createScriptedModel([]).model],
      }),
    });
    await using server = await serveFetch(handler);
    const first = await call(server.url, { maxRetries: 2 });
    const second = await call(server.url, { retryAfterOutput: true, maxRetries: 2 });
    const told = ({ events }: typeof first): string[] =>
      events
        .map(({ type, attempt }) => `${type} ${attempt}`)
        .filter((line) => !/^(?:text|done)/.test(line));
    assert.deepEqual(told(first), ["request_retry 1", "model_failover 2", "start 1"]);
    assert.deepEqual(told(second), ["start 1", "message_retract 1", "request_retry 1", "start 2"]);
    assert.deepEqual([first.message.model, messageText(first.message)], ["scripted", "Hello"]);
    assert.deepEqual([second.message.model, messageText(second.message)], ["slow", "Hello again"]);
    assert.doesNotMatch(JSON.stringify([first.events, second.events]), /127\.0\.0\.1/);
  });

  // Requirements: P34
  it("sends the options that are data, without keys, headers or tool functions", async () => {
    await using server = await loopback(failing(400, { error: { message: "enough" } }));
    const options: StreamOptions = {
      temperature: 0.5,
      maxTokens: 5,
      reasoning: "high",
      thinkingBudgets: { high: 9 },
      toolChoice: { name: "read" },
      sessionId: "s",
      cacheRetention: "long",
      metadata: { user: "u" },
      extraBody: { top_p: 1 },
      timeouts: { idleMs: 1000 },
      maxRetries: 0,
      maxRetryTimeMs: 9,
      maxRetryDelayMs: 7,
      retryAfterOutput: false,
    };
    const read = { ...tool("read", () => ""), label: "Read", strict: true };
    const details = { secret: "details-secret" };
    const context: Context = {
      systemPrompt: "Be brief.",
      messages: [
        ...hello.messages,
        {
          role: "toolResult",
          toolCallId: "c",
          toolName: "read",
          content: [],
          details,
          isError: false,
          timestamp: 1,
        },
      ],
      tools: [read],
    };
    const secrets = { apiKey: "key-secret", headers: { "x-key": "header-secret" } };
    await call(`${server.baseUrl}/`, { ...options, ...secrets, onResponse: () => {} }, context);
    const { url, headers, body } = server.requests[0]!;
    assert.equal(url, "/v1/api/stream");
    assert.equal(headers.authorization, "Bearer token");
    assert.doesNotMatch(body + JSON.stringify(headers), /secret/);
    const { id, name, api, provider, reasoning, input } = asked;
    const sent = context.messages.map(({ ...message }) =>
      "details" in message ? (delete message.details, message) : message,
    );
    assert.deepEqual(JSON.parse(body), {
      model: { id, name, api, provider, reasoning, input },
      context: {
        systemPrompt: "Be brief.",
        messages: sent,
        tools: [
          {
            name: "read",
            description: read.description,
            parameters: { type: "object", properties: {} },
            strict: true,
          },
        ],
      },
      options,
    });
  });

  // Requirements: P40
  it("fails with invalid_argument without a token or an address, in the stream", async () => {
    for (const [options, name] of [
      [{ proxyUrl: "http://127.0.0.1:1" }, "authToken"],
      [{ authToken: "token" }, "proxyUrl"],
    ] as const) {
      const message = await streamProxy(asked, hello, options).result();
      assert.deepEqual([message.stopReason, message.error?.code], ["error", "invalid_argument"]);
      assert.match(message.errorMessage ?? "", new RegExp(`needs ${name}:`));
    }
    const agent = new Agent({ initialState: { model: asked }, streamFn: streamProxy });
    const { message } = await agent.prompt("Hi");
    assert.equal(message?.error?.code, "invalid_argument");
  });

  it("sends no token for an empty one", async () => {
    for (const authToken of ["", " "]) {
      let headers: Headers | undefined;
      const { handler } = serve(["Hello"], { authorize: () => true });
      await using server = await serveFetch((request) => {
        ({ headers } = request);
        return handler(request);
      });
      const { message } = await call(server.url, { authToken });
      assert.equal(message.stopReason, "stop");
      assert.equal(headers?.has("authorization"), false);
    }
  });

  it("reports a refusal in the proxy's words, without its token", async () => {
    await using server = await loopback(
      failing(403, { error: "own-token is out of credit" }),
      failing(500, "down"),
    );
    const { message } = await call(server.baseUrl, { authToken: "own-token" });
    const { code, status, retryable } = message.error!;
    assert.deepEqual([code, status, retryable], ["permission_denied", 403, false]);
    assert.match(message.errorMessage ?? "", /\[key\] is out of credit/);
    assert.deepEqual((await call(server.baseUrl)).message.error?.code, "server_error");
  });

  it("retries when the proxy cannot be reached, but not when its model failed", async () => {
    let asks = 0;
    const { handler, script } = serve([
      { content: [], error: new BowlineError("overloaded", "busy", { retryable: true }) },
    ]);
    await using server = await serveFetch((request) =>
      ++asks === 1 ? new Response("", { status: 503 }) : handler(request),
    );
    const { events } = await call(server.url, { maxRetries: 5 });
    assert.deepEqual(
      events.map(({ type, attempt }) => [type, attempt]),
      [
        ["request_retry", 1],
        ["start", 2],
        ["error", 2],
      ],
    );
    assert.deepEqual([asks, script.calls.length], [2, 1]);
  });

  it("reports an HTML page as a wrong proxyUrl", async () => {
    await using server = await serveFetch(
      () => new Response("<!doctype html><title>My app</title>"),
    );
    const { message } = await call(server.url);
    assert.equal(message.error?.code, "unexpected_response");
    assert.match(message.errorMessage ?? "", /"My app".*check proxyUrl/);
  });
});

describe("an end of a proxied call", () => {
  /** A model that emits one word and then nothing until it is stopped. */
  function silent(): { streamFn: StreamFn; stopped: Promise<unknown> } {
    const { promise, resolve } = deferred<unknown>();
    const streamFn: StreamFn = (model, _context, { signal }) =>
      new EventStream(async (push) => {
        const { api, provider, id } = model;
        const writer = new MessageWriter({ api, provider, model: id, timestamp: 1 });
        writer.append(writer.openText(), "Well");
        push(writer.take());
        await new Promise((settle) => signal?.addEventListener("abort", settle, { once: true }));
        resolve(signal?.reason);
        writer.fail(new BowlineError("aborted", "stopped"));
        push(writer.take());
        return writer.message;
      });
    return { streamFn, stopped: promise };
  }

  it("reaches the model when the caller aborts", async () => {
    const { streamFn, stopped } = silent();
    await using server = await serveFetch(serve([], { streamFn }).handler);
    const abort = new AbortController();
    const stream = streamProxy(asked, hello, {
      authToken: "token",
      proxyUrl: server.url,
      signal: abort.signal,
    });
    for await (const event of stream) if (event.type === "text_delta") abort.abort();
    const { stopReason, error, content } = await stream.result();
    assert.deepEqual(
      [stopReason, error?.code, content],
      ["aborted", "aborted", [{ type: "text", text: "Well" }]],
    );
    await within("the model's call is aborted", stopped);
  });

  it("reaches the model when the reader leaves", async () => {
    const { streamFn, stopped } = silent();
    await using server = await serveFetch(serve([], { streamFn }).handler);
    for await (const event of streamProxy(asked, hello, {
      authToken: "token",
      proxyUrl: server.url,
    }))
      if (event.type === "text_delta") break;
    await within("the model's call is aborted", stopped);
  });

  it("reaches the model when the connection breaks", async () => {
    const { streamFn, stopped } = silent();
    await using server = await serveFetch(serve([], { streamFn }).handler);
    const stream = streamProxy(asked, hello, {
      authToken: "token",
      proxyUrl: server.url,
      maxRetries: 0,
    });
    for await (const event of stream)
      if (event.type === "text_delta") await server[Symbol.asyncDispose]();
    await within("the model's call is aborted", stopped);
    const { error } = await stream.result();
    assert.deepEqual([error?.code, error?.retryable], ["connection_failed", true]);
  });

  it("reaches the client when the proxy stalls", async () => {
    const { streamFn } = silent();
    const { handler } = serve([], { streamFn });
    await using server = await serveFetch(handler);
    const { message } = await call(server.url, { timeouts: { idleMs: 50 } });
    assert.deepEqual([message.error?.code, message.error?.retryable], ["timeout", true]);
  });
});

describe("an agent behind a proxy", () => {
  // Requirements: P34
  it("runs its tools locally and its model on the server", async () => {
    const { handler, script } = serve([
      {
        content: [
          scriptedToolCall("read", { path: "a" }, "c1"),
          scriptedToolCall("read", { path: "b" }, "c2"),
        ],
      },
      ({ messages }) => `Read ${messages.filter(({ role }) => role === "toolResult").length}.`,
    ]);
    await using server = await serveFetch(handler);
    let ran = 0;
    const agent = new Agent({
      initialState: {
        model: asked,
        tools: [tool("read", () => `file ${++ran}`)],
        systemPrompt: "Read.",
      },
      streamFn: (model, context, options) =>
        streamProxy(model, context, { ...options, authToken: "token", proxyUrl: server.url }),
    });
    const { reason, message } = await agent.prompt("Go");
    assert.deepEqual(
      [reason, message?.content, ran],
      ["done", [{ type: "text", text: "Read 2." }], 2],
    );
    assert.deepEqual(
      script.calls[1]?.context.messages.map(({ role }) => role),
      ["user", "assistant", "toolResult", "toolResult"],
    );
    assert.equal(script.calls[0]?.context.systemPrompt, "Read.");
  });
});
