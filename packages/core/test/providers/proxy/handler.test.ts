/** The server side alone: authorization, what it accepts from a client, and what it sends. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { BowlineError } from "../../../src/errors.ts";
import type { AssistantMessageEvent } from "../../../src/llm/event.ts";
import type { AssistantMessage } from "../../../src/llm/message.ts";
import type {
  AssistantMessageStream,
  Model,
  StreamFn,
  StreamOptions,
} from "../../../src/llm/model.ts";
import {
  createStreamProxyHandler,
  type ProxyHandlerOptions,
} from "../../../src/providers/proxy/index.ts";
import { streamOpenaiChat } from "../../../src/providers/openai-chat/index.ts";
import { getModel } from "../../../src/providers/vendors.ts";
import { failing, loopback } from "../../../../../test/support/loopback.ts";
import { call, inProcess, post, serve, smallBody } from "./rig.ts";
import { deferred } from "../../../../../test/support/deferred.ts";
import { ManualClock, settle } from "../../../../../test/support/manual-clock.ts";
import { within } from "../../../../../test/support/within.ts";

interface Refusal {
  readonly error: { readonly code: string; readonly message: string };
}

/** The status and the error code of the handler's response. */
async function refusal(
  request: Request,
  options: Partial<ProxyHandlerOptions> = {},
): Promise<[number, string, string]> {
  const response = await serve(["Hello"], options).handler(request);
  if (response.ok) return [response.status, "", await response.text()];
  assert.equal(response.headers.get("content-type"), "application/json");
  const { error } = (await response.json()) as Refusal;
  return [response.status, error.code, error.message];
}

const statusOf = async (
  request: Request,
  options?: Partial<ProxyHandlerOptions>,
): Promise<unknown[]> => (await refusal(request, options)).slice(0, 2);

describe("a request to a proxy", () => {
  it("must be a POST", async () => {
    const get = new Request("http://proxy.invalid/api/stream", {
      headers: { authorization: "Bearer token" },
    });
    assert.deepEqual(await statusOf(get), [405, "invalid_request"]);
  });

  it("must be authorized by `authorize` before anything is read", async () => {
    assert.deepEqual(await statusOf(post("no JSON", { authorization: "Bearer other" })), [
      401,
      "authentication_failed",
    ]);
    assert.deepEqual(await statusOf(post(smallBody), { authorize: () => Promise.resolve(false) }), [
      401,
      "authentication_failed",
    ]);
    const authorize = (): { status: number; message: string } => ({
      status: 429,
      message: "later",
    });
    assert.deepEqual(await refusal(post(smallBody), { authorize }), [429, "rate_limited", "later"]);
    assert.deepEqual(
      await statusOf(post(smallBody), { authorize: () => ({ status: 200, message: "?" }) }),
      [403, "permission_denied"],
    );
    assert.equal((await refusal(post(smallBody), { authorize: () => true }))[0], 200);
  });

  it("is refused when a hook throws, without the reason", async () => {
    const fail = (): never => {
      throw new Error("password-of-the-database");
    };
    for (const options of [{ authorize: fail }, { allowModel: fail }]) {
      const [status, code, message] = await refusal(post(smallBody), options);
      assert.deepEqual([status, code], [500, "hook_failed"]);
      assert.doesNotMatch(message, /password/);
    }
  });

  it("must be JSON of the right shape", async () => {
    const { model, context } = smallBody;
    assert.deepEqual(await statusOf(post(smallBody, { "content-type": "text/plain" })), [
      415,
      "invalid_request",
    ]);
    const bad = [
      "",
      "{",
      [],
      {},
      { model },
      { context },
      { model: { ...model, id: {} }, context },
      { model, context: { messages: "Hi" } },
      { model, context: { messages: [{ role: "system", content: "obey" }] } },
      { model, context: { messages: [{ role: "user", content: [{ type: "text" }] }] } },
      { model, context: { messages: [{ role: "assistant", content: "Hi" }] } },
      { model, context: { messages: [{ role: "toolResult", content: [] }] } },
      { model, context: { messages: [], tools: [{ name: "read" }] } },
      { model, context, options: { maxTokens: "many" } },
      { model, context, options: { reasoning: "off" } },
      { model, context, options: { maxRetries: -1 } },
    ];
    for (const body of bad) {
      const text = JSON.stringify(body);
      assert.deepEqual(await statusOf(post(body)), [400, "invalid_request"], text);
    }
    const { url, headers } = post(smallBody);
    assert.deepEqual(await statusOf(new Request(url, { method: "POST", headers })), [
      400,
      "invalid_request",
    ]);
    assert.deepEqual(await statusOf(post(new Uint8Array([0xff, 0xfe]))), [400, "invalid_request"]);
    assert.equal((await refusal(post(smallBody)))[0], 200);
  });

  it("must not exceed the size limit, declared or not", async () => {
    const large = JSON.stringify({ ...smallBody, options: { sessionId: "x".repeat(2000) } });
    const read = post(large);
    assert.deepEqual(await statusOf(read, { maxBodyBytes: 1000 }), [413, "request_too_large"]);
    assert.equal(read.body?.locked, false); // so that a server can drop the rest
    assert.deepEqual(
      await statusOf(post("{}", { "content-length": "1001" }), { maxBodyBytes: 1000 }),
      [413, "request_too_large"],
    );
    assert.equal((await refusal(post(large)))[0], 200);
  });
});

describe("the model of a proxied call", () => {
  async function seen(
    body: object,
    options: Partial<ProxyHandlerOptions>,
  ): Promise<[Model, StreamOptions]> {
    const { handler, script } = serve(["Hello"], options);
    await (await handler(post(body))).text();
    const { model, options: given } = script.calls[0]!;
    return [model, given];
  }

  it("is given by `allowModel`, and takes no address, key or header from the client", async () => {
    const hostile = {
      ...smallBody,
      model: {
        ...smallBody.model,
        baseUrl: "http://evil.invalid",
        headers: { a: "b" },
        compat: { keyHeader: "x" },
      },
      options: {
        apiKey: "k",
        headers: { a: "b" },
        extraBody: { model: "dear" },
        fetch: "x",
        temperature: 1,
        maxTokens: 9,
      },
    };
    let named: Model | undefined;
    const own = getModel("openai", "gpt-5");
    const [model, options] = await seen(hostile, {
      allowModel: (candidate) => ((named = candidate), own),
      options: { apiKey: "own", maxTokens: 5 },
    });
    assert.deepEqual(named, {
      id: "fast",
      name: "fast",
      provider: "acme",
      api: "scripted",
      reasoning: false,
      input: ["text"],
      baseUrl: "",
    });
    assert.equal(model, own);
    const { clock: _, signal, ...rest } = options;
    assert.ok(signal instanceof AbortSignal);
    assert.deepEqual(rest, { apiKey: "own", temperature: 1, maxTokens: 5 });
    const [, obeyed] = await seen(hostile, { acceptExtraBody: true });
    assert.deepEqual(obeyed.extraBody, { model: "dear" });
  });

  it("is, without `allowModel`, looked up by vendor, with its known address", async () => {
    const openai = {
      model: {
        id: "gpt-5",
        provider: "openai",
        api: "openai-responses",
        baseUrl: "http://evil.invalid",
      },
    };
    const { handler, script } = serve(["Hello"]);
    const open = createStreamProxyHandler({ streamFn: script.streamFn, authorize: () => true });
    await (await open(post({ ...smallBody, ...openai }))).text();
    const { id, baseUrl, api } = script.calls[0]!.model;
    assert.deepEqual(
      [id, baseUrl, api],
      ["gpt-5", "https://api.openai.com/v1", "openai-responses"],
    );
    assert.equal((await open(post(smallBody))).status, 403);
    assert.equal((await handler(post(smallBody))).status, 200);
  });

  it("can be refused", async () => {
    assert.deepEqual(await refusal(post(smallBody), { allowModel: () => undefined }), [
      403,
      "permission_denied",
      'The model "acme/fast" is not allowed here.',
    ]);
  });

  it("is called with the client's options where the server's own are undefined", async () => {
    const body = { ...smallBody, options: { maxTokens: 7 } };
    const own = { apiKey: undefined, maxTokens: undefined };
    for (const options of [own, () => own]) {
      const [, given] = await seen(body, { options });
      assert.deepEqual([given.maxTokens, "apiKey" in given], [7, false]);
    }
  });

  it("is called with options that may depend on the client and on the server's own model", async () => {
    const keys: Readonly<Record<string, string>> = { ann: "key-of-ann", bob: "key-of-bob" };
    const { handler, script } = serve(["Hello", "Hello"], {
      authorize: () => true,
      options: async (request, model) => ({
        apiKey: keys[request.headers.get("x-user") ?? ""] ?? "",
        maxTokens: model.id.length,
      }),
    });
    for (const user of ["ann", "bob"]) {
      const request = post(smallBody);
      request.headers.set("x-user", user);
      await (await handler(request)).text();
    }
    assert.deepEqual(
      script.calls.map(({ options }) => [options.apiKey, options.maxTokens]),
      [
        ["key-of-ann", script.model.id.length],
        ["key-of-bob", script.model.id.length],
      ],
    );
  });

  it("is not called when its options cannot be resolved, or would send a key to the client's address", async () => {
    const { streamFn, calls } = serve([]).script;
    const authorize = (): boolean => true;
    const openai = { model: { id: "gpt-5", provider: "openai", api: "openai-responses" } };
    for (const options of [() => ({ apiKey: "own" }), () => assert.fail("no database")]) {
      const open = createStreamProxyHandler({ streamFn, authorize, options });
      const answer = await open(post({ ...smallBody, ...openai }));
      assert.equal(answer.status, 500);
      assert.equal(/own|database/.test(await answer.text()), false);
    }
    assert.equal(calls.length, 0);
  });

  it("requires allowModel together with an apiKey", () => {
    const { streamFn } = serve([]).script;
    assert.throws(
      () =>
        createStreamProxyHandler({ streamFn, authorize: () => true, options: { apiKey: "own" } }),
      /needs allowModel/,
    );
  });
});

describe("the response of a proxy", () => {
  it("contains no key and no address, whatever the model server says", async () => {
    const words = "Incorrect API key: key-secret, see http://10.0.0.1/help?key=1";
    await using server = await loopback(failing(401, { error: { message: words } }));
    const { host } = new URL(server.baseUrl);
    const { handler } = serve([], {
      streamFn: streamOpenaiChat,
      allowModel: () =>
        getModel("custom", "m", { baseUrl: server.baseUrl, headers: { "x-more": "more-secret" } }),
      options: { apiKey: "key-secret", maxRetries: 0 },
    });
    const text = await (await handler(post(smallBody))).text();
    assert.match(text, /"code":"authentication_failed".*"status":401/);
    for (const secret of ["key-secret", "more-secret", host, "10.0.0.1"])
      assert.ok(!text.includes(secret), secret);
    const { message } = await call("http://proxy.invalid", { fetch: inProcess(handler) });
    assert.equal(message.error?.code, "authentication_failed");
  });

  it("contains no key and no name of the model's server, with its port or without", async () => {
    const words = "connect ECONNREFUSED models.internal:8443 (host models.internal), 12345678";
    const { handler } = serve([{ error: new BowlineError("connection_failed", words) }], {
      allowModel: () => getModel("custom", "m", { baseUrl: "https://models.internal:8443/v1" }),
      options: { apiKey: "12345678" },
    });
    const text = await (await handler(post(smallBody))).text();
    assert.match(text, /connect ECONNREFUSED \[address\] \(host \[address\]\), \[secret\]/);
  });

  it("keeps the server's words if a header's value is too short for a secret", async () => {
    await using server = await loopback(failing(400, { error: { message: "a bad request" } }));
    const { handler } = serve([], {
      streamFn: streamOpenaiChat,
      allowModel: () =>
        getModel("custom", "m", {
          baseUrl: server.baseUrl,
          headers: { "x-title": "a", "x-try": "0" },
        }),
    });
    assert.match(await (await handler(post(smallBody))).text(), /answered HTTP 400: a bad request/);
  });

  const partial = {
    role: "assistant",
    content: [],
    api: "a",
    provider: "p",
    model: "m",
    usage: {},
    timestamp: 1,
  } as const;
  const text = { type: "text", text: "Hello", textSignature: "s" } as const;
  const whole: AssistantMessage = { ...partial, content: [text], stopReason: "stop", paused: true };
  const start: AssistantMessageEvent = {
    type: "start",
    attempt: 1,
    api: "a",
    provider: "p",
    model: "m",
    timestamp: 1,
  };
  async function* gives(...events: AssistantMessageEvent[]): AsyncGenerator<AssistantMessageEvent> {
    yield* events;
  }
  const outcome = async (streamFn: StreamFn): Promise<AssistantMessage> => {
    const { handler } = serve([], { streamFn });
    return (await call("http://proxy.invalid", { fetch: inProcess(handler) })).message;
  };

  it("is an error event when a stream function throws, breaks off or ends without an event", async () => {
    const broken: [string, StreamFn][] = [
      ["stream_function_failed", () => Promise.reject(new Error("no"))],
      ["stream_truncated", () => gives(start)],
      [
        "invalid_argument",
        () => {
          throw new BowlineError("invalid_argument", "no");
        },
      ],
      ["stream_function_failed", () => undefined as unknown as AssistantMessageStream],
    ];
    for (const [code, streamFn] of broken) {
      const { stopReason, error, timestamp } = await outcome(streamFn);
      assert.deepEqual([stopReason, error?.code], ["error", code]);
      assert.ok(timestamp > 0);
    }
  });

  it("is the whole message of a stream function that emits only its last event", async () => {
    assert.deepEqual(
      await outcome(() => gives({ type: "done", attempt: 1, reason: "stop", message: whole })),
      whole,
    );
    assert.deepEqual(
      await outcome(() =>
        gives(start, { type: "done", attempt: 1, reason: "stop", message: whole }),
      ),
      whole,
    );
    const toolCall = {
      type: "toolCall",
      id: "c",
      name: "read",
      arguments: { a: 1 },
      argumentsText: '{"a":1}',
    } as const;
    const calling: AssistantMessage = {
      ...whole,
      content: [text, toolCall],
      stopReason: "toolUse",
    };
    assert.deepEqual(
      await outcome(() => gives({ type: "done", attempt: 1, reason: "toolUse", message: calling })),
      calling,
    );
  });

  it("sends a comment at once and every 5 seconds, and nothing after the client left", async () => {
    const clock = new ManualClock();
    const { promise, resolve } = deferred<string>();
    const signals: (AbortSignal | undefined)[] = [];
    const { handler, script } = serve([() => promise], { clock });
    const spied = createStreamProxyHandler({
      clock,
      authorize: () => true,
      allowModel: () => script.model,
      streamFn: (model, context, options) => (
        signals.push(options.signal),
        script.streamFn(model, context, options)
      ),
    });
    const reader = (await spied(post(smallBody)))
      .body!.pipeThrough(new TextDecoderStream())
      .getReader();
    const next = async (): Promise<string | undefined> =>
      (await within("the next comment", reader.read())).value;
    assert.equal(await next(), ": keep-alive\n\n");
    for (let n = 0; n < 3; n++) {
      const comment = next();
      await clock.advance(5_000);
      assert.equal(await comment, ": keep-alive\n\n");
    }
    assert.equal(clock.pending, 1);
    await reader.cancel();
    assert.equal(clock.pending, 0);
    assert.equal(signals[0]?.aborted, true);
    resolve("late");
    await settle();

    const body = await (await handler(post(smallBody))).text();
    assert.match(body, /^: keep-alive\n\ndata: \{"type":"start",/);
    assert.equal(clock.pending, 0);
  });

  it("leaves no timer when it is not read", async () => {
    const clock = new ManualClock();
    const { handler, script } = serve(["Hello"], { clock });
    await handler(post(smallBody));
    await settle();
    assert.deepEqual([clock.pending, script.calls.length], [0, 0]);
  });

  it("is compact: no part is repeated", async () => {
    const args = { path: "x".repeat(100) };
    const { handler } = serve([
      {
        content: [{ type: "toolCall", id: "c", name: "read", arguments: args }],
        usage: { input: 1 },
      },
    ]);
    const body = await (await handler(post(smallBody))).text();
    const events = body
      .split("\n\n")
      .filter((line) => line.startsWith("data: "))
      .map((line) => JSON.parse(line.slice(6)) as object);
    const { timestamp: _, ...first } = events[0] as { timestamp: number };
    assert.deepEqual(
      [first, events[1], events[2], ...events.slice(-2)],
      [
        { type: "start", api: "scripted", provider: "scripted", model: "scripted" },
        { type: "toolcall_start", contentIndex: 0, id: "c", toolName: "read" },
        { type: "toolcall_delta", contentIndex: 0, delta: '{"path":' },
        {
          type: "toolcall_end",
          contentIndex: 0,
          toolCall: { type: "toolCall", id: "c", name: "read", arguments: args },
        },
        { type: "done", reason: "toolUse", usage: { input: 1 } },
      ],
    );
  });
});
