/** Model calls over real sockets: server faults and their results for the caller. */
import assert from "node:assert/strict";
import { createServer } from "node:net";
import { describe, it } from "node:test";
import { reduceEvents, type AssistantMessageEvent } from "../../src/llm/event.ts";
import type { AssistantMessage } from "../../src/llm/message.ts";
import type { StreamOptions } from "../../src/llm/model.ts";
import { streamOpenaiChat } from "../../src/providers/openai-chat/index.ts";
import { getModel } from "../../src/providers/vendors.ts";
import {
  chatText,
  failing,
  loopback,
  streamed,
  type Handler,
} from "../../../../test/support/loopback.ts";

interface Outcome {
  readonly message: AssistantMessage;
  readonly events: AssistantMessageEvent[];
}

async function call(baseUrl: string, options: StreamOptions = {}): Promise<Outcome> {
  const context = { messages: [{ role: "user" as const, content: "Hi", timestamp: 1 }] };
  const stream = streamOpenaiChat(getModel("custom", "m", { baseUrl }), context, {
    maxRetries: 0,
    ...options,
  });
  const events: AssistantMessageEvent[] = [];
  for await (const event of stream) events.push(event);
  return { message: await stream.result(), events };
}

async function against(
  handlers: Handler[],
  options: StreamOptions = {},
): Promise<Outcome & { requests: number }> {
  await using server = await loopback(...handlers);
  const outcome = await call(server.baseUrl, options);
  return { ...outcome, requests: server.requests.length };
}

const text = ({ content }: AssistantMessage): string =>
  content.map((part) => (part.type === "text" ? part.text : "")).join("");
const hang: Handler = () => {};
const hangAfter =
  (...chunks: string[]): Handler =>
  (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const chunk of chunks) response.write(chunk);
  };

describe("a model call", () => {
  it("streams an answer over a real socket, and sends the encoded request", async () => {
    await using server = await loopback(chatText("Hello"));
    const { message } = await call(server.baseUrl, { apiKey: "k" });
    assert.equal(text(message), "Hello");
    assert.deepEqual(
      [server.requests[0]?.url, server.requests[0]?.headers.authorization],
      ["/v1/chat/completions", "Bearer k"],
    );
  });

  const refusals = {
    401: [
      { error: { message: "Incorrect API key provided: secret-key" } },
      "authentication_failed",
      false,
    ],
    402: [{ error: { message: "no credit" } }, "quota_exceeded", false],
    403: [{ detail: "not yours" }, "permission_denied", false],
    404: [{ error: { message: "no such model" } }, "not_found", false],
    413: ["", "request_too_large", false],
    422: [{ detail: [{ msg: "extra field" }] }, "invalid_request", false],
    429: [{ error: { code: "rate_limit_exceeded", message: "slow down" } }, "rate_limited", true],
    500: [[{ error: { message: "oops" } }], "server_error", true],
    529: [{ error: { type: "overloaded_error", message: "Overloaded" } }, "overloaded", true],
  } as const;
  for (const [status, [body, code, retryable]] of Object.entries(refusals)) {
    it(`that is refused with ${status} ends with a typed error, with the server's words and without the key`, async () => {
      const { message } = await against([failing(Number(status), body, { "x-request-id": "r1" })], {
        apiKey: "secret-key",
      });
      assert.equal(message.stopReason, "error");
      const { error } = message;
      assert.deepEqual(
        [error?.code, error?.status, error?.retryable, error?.requestId],
        [code, Number(status), retryable, "r1"],
      );
      assert.equal(JSON.stringify(message).includes("secret-key"), false);
      assert.equal(error?.message.includes("\n"), false);
    });
  }

  it("redacts the key in an error inside the stream", async () => {
    const { message } = await against(
      [streamed({ error: { code: 401, message: "Not your key: secret-key" } })],
      {
        apiKey: "secret-key",
      },
    );
    assert.match(message.errorMessage ?? "", /Not your key: \[key\]/);
    assert.equal(JSON.stringify(message).includes("secret-key"), false);
  });

  it("distinguishes a rate limit, a used-up quota and a context overflow", async () => {
    const quota = await against([
      failing(429, {
        error: { code: "insufficient_quota", message: "You exceeded your current quota" },
      }),
    ]);
    assert.deepEqual(
      [quota.message.error?.code, quota.message.error?.retryable],
      ["quota_exceeded", false],
    );
    const overflow = await against([
      failing(400, { error: { message: "maximum context length is 8192 tokens" } }),
    ]);
    assert.equal(overflow.message.error?.code, "context_overflow");
    const throttled = await against([
      failing(429, {
        error: { message: "Too many tokens, please wait: rate limit of the context window" },
      }),
    ]);
    assert.equal(throttled.message.error?.code, "rate_limited");
  });

  it("names a server that cannot be reached", async () => {
    const free = createServer();
    await new Promise<void>((resolve) => free.listen(0, "127.0.0.1", resolve));
    const { port } = free.address() as { port: number };
    await new Promise((resolve) => free.close(resolve));
    const { message } = await call(`http://127.0.0.1:${port}/v1`);
    assert.equal(message.error?.code, "connection_failed");
    assert.match(message.errorMessage ?? "", /ECONNREFUSED/);
  });

  // Q229
  it("does not follow a redirect that would turn it into a GET", async () => {
    const { message, requests } = await against([
      failing(302, "", { location: "https://elsewhere/v1" }),
    ]);
    assert.deepEqual([message.error?.code, requests], ["unexpected_response", 1]);
    assert.match(message.errorMessage ?? "", /elsewhere/);
  });

  it("is retried before any output, with an event, after the server's delay", async () => {
    const { message, events, requests } = await against(
      [failing(503, "busy", { "retry-after-ms": "5" }), chatText("Hello")],
      { maxRetries: 2 },
    );
    assert.deepEqual([text(message), requests], ["Hello", 2]);
    const [retry] = events;
    assert.ok(retry?.type === "request_retry");
    assert.deepEqual([retry.attempt, retry.delayMs, retry.error.status], [1, 5, 503]);
    assert.equal(events.filter(({ type }) => type === "start").length, 1);
    assert.ok(events.slice(1).every(({ attempt }) => attempt === 2));
  });

  it("is tried once if maxRetries is not a number", async () => {
    const busy = failing(503, "busy", { "retry-after-ms": "1" });
    const { message, requests } = await against([busy, chatText("Hello")], {
      maxRetries: Number("two"),
    });
    assert.deepEqual([message.error?.status, requests], [503, 1]);
  });

  // Q231, Q092
  it("is retried if the stream breaks before any output, or the answer is empty", async () => {
    const dies: Handler = (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(": hi\n\n", () => response.destroy());
    };
    for (const first of [
      dies,
      streamed({ choices: [{ delta: {}, finish_reason: "stop" }] }, "[DONE]"),
    ]) {
      const { message, requests } = await against([first, chatText("Hello")], { maxRetries: 1 });
      assert.deepEqual([text(message), requests], ["Hello", 2]);
    }
  });

  it("is not retried after output, and keeps the partial answer", async () => {
    const dies: Handler = (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(
        `data: ${JSON.stringify({ choices: [{ delta: { content: "Hel" } }] })}\n\n`,
        () => setTimeout(() => response.destroy(), 5),
      );
    };
    const { message, requests } = await against([dies], { maxRetries: 2 });
    assert.deepEqual(
      [text(message), message.error?.code, requests],
      ["Hel", "connection_failed", 1],
    );
  });

  it("is retried after output if the caller allows it: the output is withdrawn, and the second answer counts", async () => {
    const dies: Handler = (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(
        `data: ${JSON.stringify({ choices: [{ delta: { content: "Hel" } }] })}\n\n`,
        () => setTimeout(() => response.destroy(), 5),
      );
    };
    const { message, events, requests } = await against([dies, chatText("Hello")], {
      maxRetries: 1,
      retryAfterOutput: true,
    });
    assert.deepEqual([text(message), message.stopReason, requests], ["Hello", "stop", 2]);
    const kinds = events.map(({ type }) => type).filter((type) => !type.startsWith("text_"));
    assert.deepEqual(kinds, ["start", "message_retract", "request_retry", "start", "done"]);
    const recorded = JSON.parse(JSON.stringify(events)) as AssistantMessageEvent[];
    assert.equal(JSON.stringify(reduceEvents(recorded)), JSON.stringify(message));
  });

  // Q220
  it("fails at once on a delay above the cap, and reports the delay", async () => {
    const { message, requests } = await against([failing(429, "later", { "retry-after": "120" })], {
      maxRetries: 2,
    });
    assert.deepEqual([message.error?.retryAfterMs, requests], [120_000, 1]);
    assert.match(message.errorMessage ?? "", /asks to wait 120 s/);
  });

  const timeouts = {
    "no answer": [hang, { firstByteMs: 20 }],
    silence: [hangAfter(": hi\n\n"), { idleMs: 20 }],
  } as const;
  for (const [what, [handler, limits]] of Object.entries(timeouts)) {
    it(`with ${what} ends in a retryable timeout, not an abort`, async () => {
      const { message } = await against([handler], { timeouts: limits });
      assert.deepEqual(
        [message.stopReason, message.error?.code, message.error?.retryable],
        ["error", "timeout", true],
      );
    });
  }

  // Q234
  it("with keep-alives but no content ends in a timeout", async () => {
    const keepAlive: Handler = (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const timer = setInterval(() => response.write(": still here\n\n"), 5);
      response.on("close", () => clearInterval(timer));
    };
    const { message } = await against([keepAlive], { timeouts: { idleMs: 1000, progressMs: 60 } });
    assert.match(message.errorMessage ?? "", /no content for 60 ms/);
  });

  it("can be aborted while it waits for headers, for content or for a retry, and releases the connection", async () => {
    for (const [handler, options] of [
      [hang, {}],
      [hangAfter(`data: ${JSON.stringify({ choices: [{ delta: { content: "Hel" } }] })}\n\n`), {}],
      [failing(503, "busy", { "retry-after": "30" }), { maxRetries: 1 }],
    ] as const) {
      await using server = await loopback(handler);
      const { message } = await call(server.baseUrl, {
        ...options,
        signal: AbortSignal.timeout(40),
      });
      assert.deepEqual([message.stopReason, message.error?.code], ["aborted", "aborted"]);
      const deadline = Date.now() + 60_000;
      while ((await server.open()) > 0 && Date.now() < deadline)
        await new Promise((resolve) => setTimeout(resolve, 5));
      if (handler !== undefined && !("maxRetries" in options)) assert.equal(await server.open(), 0);
    }
  });

  it("ends even if a custom fetch ignores its signal", async () => {
    const fetch = (): Promise<Response> => new Promise(() => {});
    const { message } = await call("http://127.0.0.1:1/v1", {
      fetch,
      signal: AbortSignal.timeout(10),
    });
    assert.equal(message.stopReason, "aborted");
  });

  // Q016
  it("stops reading at [DONE], even if the server keeps the connection open", async () => {
    const open = hangAfter(
      `data: ${JSON.stringify({ choices: [{ delta: { content: "Hi" }, finish_reason: "stop" }] })}\n\n`,
      "data: [DONE]\n\n",
    );
    assert.equal(text((await against([open])).message), "Hi");
  });

  it("passes the payload and the response to hooks, and fails with a typed error when one throws", async () => {
    await using server = await loopback(chatText("Hello"));
    const seen: unknown[] = [];
    await call(server.baseUrl, {
      extraBody: { seed: 7 },
      onPayload: (payload) => ({ ...payload, user: "u" }),
      onResponse: ({ status, headers }) => void seen.push(status, headers["content-type"]),
    });
    assert.deepEqual(seen, [200, "text/event-stream"]);
    assert.match(server.requests[0]?.body ?? "", /"seed":7,"user":"u"/);
    const boom = (): never => {
      throw new Error("boom");
    };
    for (const hooks of [{ onPayload: boom }, { onResponse: boom }]) {
      assert.equal((await call(server.baseUrl, hooks)).message.error?.code, "hook_failed");
    }
  });

  it("reports the cost of a failed answer", async () => {
    const usage = { prompt_tokens: 1_000_000, completion_tokens: 500_000 };
    await using server = await loopback(
      streamed(
        { choices: [{ delta: { content: "Hi" }, finish_reason: "content_filter" }], usage },
        "[DONE]",
      ),
    );
    const model = getModel("custom", "m", {
      baseUrl: server.baseUrl,
      cost: { input: 2, output: 4 },
    });
    const message = await streamOpenaiChat(model, {
      messages: [{ role: "user", content: "Hi", timestamp: 1 }],
    }).result();
    assert.deepEqual([message.error?.code, message.usage.cost?.total], ["content_filtered", 4]);
  });

  it("reports its cost if the model's prices are known", async () => {
    const usage = { prompt_tokens: 1_000_000, completion_tokens: 500_000 };
    await using server = await loopback(
      streamed({ choices: [{ delta: { content: "Hi" }, finish_reason: "stop" }], usage }, "[DONE]"),
    );
    const model = getModel("custom", "m", {
      baseUrl: server.baseUrl,
      cost: { input: 2, output: 4 },
    });
    const message = await streamOpenaiChat(model, {
      messages: [{ role: "user", content: "Hi", timestamp: 1 }],
    }).result();
    assert.equal(message.usage.cost?.total, 4);
  });
});
