/** The bytes of a proxy, in any chunks, truncated, or malformed. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { BowlineError } from "../../../src/errors.ts";
import { isTerminal, reduceEvents, type AssistantMessageEvent } from "../../../src/llm/event.ts";
import type { AssistantMessage } from "../../../src/llm/message.ts";
import { ProxyDecoder } from "../../../src/providers/proxy/decoder.ts";
import { scriptedToolCall } from "../../../src/testing/index.ts";
import { asked, post, serve, smallBody } from "./rig.ts";

interface Decoded {
  readonly events: AssistantMessageEvent[];
  readonly message: AssistantMessage;
}

/** Decodes a body given in chunks. Ends a failed one as the transport does. */
function decode(...chunks: readonly Uint8Array[]): Decoded {
  const decoder = new ProxyDecoder(asked, { timestamp: 1 });
  const events: AssistantMessageEvent[] = [];
  for (const chunk of chunks) events.push(...decoder.push(chunk));
  events.push(...decoder.end());
  if (decoder.failure !== undefined) events.push(...decoder.fail(decoder.failure));
  return { events, message: decoder.message };
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const sse = (...events: readonly (object | string)[]): Uint8Array =>
  bytes(
    events
      .map((event) => `data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`)
      .join(""),
  );
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

async function recorded(): Promise<Uint8Array[]> {
  const answers = [
    {
      content: [{ type: "text" as const, text: "Grüße, 世界 🌍." }],
      usage: { input: 1, output: 2 },
    },
    {
      content: [
        { type: "thinking" as const, thinking: "Hm.", thinkingSignature: "s" },
        scriptedToolCall("read", { path: "ä" }, "c1"),
        scriptedToolCall("read", { path: "b" }, "c2"),
        { type: "opaque" as const, protocol: "p", raw: { x: [1] } },
      ],
    },
    {
      content: [{ type: "text" as const, text: "Half" }],
      error: new BowlineError("timeout", "late", { retryable: true }),
    },
  ];
  const { handler } = serve(answers, {}, 3);
  const bodies: Uint8Array[] = [];
  for (const _ of answers)
    bodies.push(new Uint8Array(await (await handler(post(smallBody))).arrayBuffer()));
  return bodies;
}

describe("a proxy's body", () => {
  it("is not taken for a web page when events precede the text at its end", async () => {
    const page = bytes("<!doctype html><title>Bad gateway</title>");
    const [body = assert.fail("no body")] = await recorded();
    const text = new TextDecoder().decode(body);
    const half = bytes(text.slice(0, text.lastIndexOf("data: ")));
    assert.equal(decode(page).message.error?.code, "unexpected_response");
    assert.equal(decode(half, page).message.error?.code, "stream_truncated");
  });

  it("gives the same events byte by byte and split anywhere", async () => {
    for (const body of await recorded()) {
      const whole = decode(body);
      assert.ok(isTerminal(whole.events.at(-1)!));
      const single = decode(...Array.from(body, (byte) => Uint8Array.of(byte)));
      assert.deepEqual(plain(single), plain(whole));
      for (let at = 0; at <= body.length; at++) {
        const { events } = decode(body.subarray(0, at), body.subarray(at));
        assert.deepEqual(plain(events), plain(whole.events), `cut at ${at}`);
      }
    }
  });

  it("that breaks off at any byte is a typed error, and keeps the partial answer", async () => {
    for (const body of await recorded()) {
      const whole = decode(body);
      const last = bytes("\n\n").length;
      for (let at = 0; at < body.length - last; at++) {
        const { events, message } = decode(body.subarray(0, at));
        assert.deepEqual(
          [message.stopReason, message.error?.code, message.error?.retryable],
          ["error", "stream_truncated", true],
          `cut at ${at}`,
        );
        assert.equal(events.filter(isTerminal).length, 1);
        assert.deepEqual(plain(reduceEvents(events)), plain(message));
      }
      for (let at = body.length - last; at < body.length; at++)
        assert.deepEqual(
          plain(decode(body.subarray(0, at))),
          plain(whole),
          "the last line needs no end",
        );
    }
  });

  it("with an empty piece gives no event for it", () => {
    const { events, message } = decode(
      sse(
        { type: "start" },
        { type: "text_start", contentIndex: 0 },
        { type: "text_delta", contentIndex: 0, delta: "" },
        { type: "text_delta", contentIndex: 0, delta: "Hi" },
        { type: "text_end", contentIndex: 0 },
        { type: "done", reason: "stop" },
      ),
    );
    assert.equal(events.filter(({ type }) => type === "text_delta").length, 1);
    assert.deepEqual(message.content, [{ type: "text", text: "Hi" }]);
  });

  it("may have comments, no space after `data:`, CRLF, and unknown kinds of events", () => {
    const text = [
      ": keep-alive",
      "",
      'data:{"type":"start"}',
      "",
      'data:{"type":"weather","sunny":true}',
      "",
      ":",
      'data:{"type":"text_start","contentIndex":0}',
      "",
      'data:{"type":"text_delta","contentIndex":0,"delta":"Hi"}',
      "",
      'data:{"type":"text_end","contentIndex":0}',
      "",
      'data:{"type":"done","reason":"stop","usage":{"input":1,"output":"x","cost":{}}}',
    ].join("\r\n");
    const { message } = decode(bytes(text));
    assert.deepEqual(message, {
      role: "assistant",
      content: [{ type: "text", text: "Hi" }],
      api: asked.api,
      provider: asked.provider,
      model: asked.id,
      usage: { input: 1 },
      stopReason: "stop",
      timestamp: 1,
    });
  });

  it("of a simpler proxy is accepted: calls by their deltas, errors by their text", () => {
    const begin = [
      { type: "start" },
      { type: "toolcall_start", contentIndex: 0, id: "c", toolName: "read" },
    ];
    const delta = { type: "toolcall_delta", contentIndex: 0, delta: '{"path":"a"}' };
    const end = { type: "toolcall_end", contentIndex: 0 };
    const done = { type: "done", reason: "toolUse", usage: { input: 1 } };
    assert.deepEqual(decode(sse(...begin, delta, end, done)).message.content, [
      {
        type: "toolCall",
        id: "c",
        name: "read",
        arguments: { path: "a" },
        argumentsText: '{"path":"a"}',
      },
    ]);
    const broken = decode(sse(...begin, { ...delta, delta: '{"pa' }, end, done)).message.content[0];
    assert.ok(broken?.type === "toolCall" && broken.argumentsError !== undefined);
    const { errorMessage, error } = decode(
      sse({ type: "error", reason: "error", errorMessage: "Out of order" }),
    ).message;
    assert.deepEqual([errorMessage, error?.code], ["Out of order", "server_error"]);
    assert.equal(decode(sse({ type: "error", reason: "aborted" })).message.error?.code, "aborted");
  });

  it("tells the delay of a retry and the models of a failover, after which it starts again", () => {
    const error = { code: "overloaded", message: "Busy.", retryable: true } as const;
    const [from, to] = ["m", "n"].map((model) => ({ provider: "p", model }));
    const events = decode(
      sse(
        { type: "start", model: "m" },
        { type: "request_retry", attempt: 1, delayMs: 500, error },
        { type: "start", attempt: 2, model: "m" },
        { type: "model_failover", attempt: 2, from, to, error },
        { type: "start", attempt: 3, model: "n" },
        { type: "done", attempt: 3, reason: "stop", usage: {} },
      ),
    ).events;
    assert.deepEqual(plain(events.filter(({ type }) => /^(?:request|model)_/.test(type))), [
      { type: "request_retry", attempt: 1, error, delayMs: 500 },
      { type: "model_failover", attempt: 2, error, from, to },
    ]);
    const last = events.at(-1);
    assert.ok(last?.type === "done");
    assert.equal(last.message.model, "n");
  });

  const start = { type: "start", api: "a", provider: "p", model: "m", timestamp: 1 };
  const open = { type: "text_start", contentIndex: 0 };
  const delta = { type: "text_delta", contentIndex: 0, delta: "x" };
  const close = { type: "text_end", contentIndex: 0 };
  const done = { type: "done", reason: "stop", usage: {} };
  const calling = { type: "toolcall_start", contentIndex: 0, id: "c", toolName: "read" };
  const corrupt: Record<string, (object | string)[]> = {
    "is not JSON": [start, "{oops"],
    "is not an event": [start, "[]"],
    "has no type": [start, {}],
    "is output before the start": [open],
    "is an end before the start": [done],
    "is a second start": [start, open, close, start],
    "is a second start before any output": [start, start],
    "opens a part beyond the next index": [start, { ...open, contentIndex: 1 }],
    "opens a part twice": [start, open, open],
    "opens a part without an index": [start, { type: "text_start" }],
    "adds to a part that was never opened": [start, delta],
    "adds to a part of another kind": [start, open, { ...delta, type: "thinking_delta" }],
    "adds to a part that is closed": [start, open, close, delta],
    "adds a delta that is not a string": [start, open, { ...delta, delta: 5 }],
    "closes a part of another kind": [start, open, { type: "toolcall_end", contentIndex: 0 }],
    "ends with an open part": [start, open, delta, done],
    "ends for an unknown reason": [start, { ...done, reason: "tired" }],
    "is a retry after output": [
      start,
      open,
      close,
      { type: "request_retry", delayMs: 1, error: {} },
    ],
    "withdraws output that does not exist": [
      start,
      { type: "message_retract", contentIndex: 3, error: {} },
    ],
    "is a call without a name": [start, { ...calling, toolName: 5 }],
    "is a call with invalid arguments": [
      start,
      calling,
      { type: "toolcall_end", contentIndex: 0, toolCall: { arguments: [] } },
    ],
    "is an opaque part without a protocol": [
      start,
      { type: "opaque_end", contentIndex: 0, part: {} },
    ],
  };
  for (const [what, events] of Object.entries(corrupt)) {
    it(`is refused when an event ${what}`, () => {
      const { message } = decode(sse(...events, done));
      assert.deepEqual(
        [message.stopReason, message.error?.code, message.error?.retryable],
        ["error", "stream_corrupt", true],
      );
    });
  }

  it("is not read after its end or its failure, so that neither changes", () => {
    const long = bytes("x".repeat(1000));
    const short = { timestamp: 1, maxEventLength: 900 };
    for (const [body, failure] of [
      [sse(start, done), undefined],
      [
        sse(start, "{oops"),
        "The proxy's stream cannot be trusted: it contains invalid JSON: {oops.",
      ],
    ] as const) {
      const decoder = new ProxyDecoder(asked, short);
      decoder.push(body);
      const { message } = decoder;
      assert.deepEqual(decoder.push(long), []);
      assert.deepEqual(decoder.push(sse(open, delta)), []);
      assert.deepEqual(decoder.end(), []);
      assert.deepEqual([decoder.failure?.message, decoder.message], [failure, message]);
    }
    const late = decode(sse(start, done, open, "{oops"));
    assert.deepEqual(
      late.events.map(({ type }) => type),
      ["start", "done"],
    );
    assert.equal(late.message.stopReason, "stop");
  });

  it("that has its end without a line ending has not failed", () => {
    const decoder = new ProxyDecoder(asked, { timestamp: 1 });
    decoder.push(sse(start).subarray(0, -1));
    decoder.push(bytes(`\ndata: ${JSON.stringify(done)}`));
    assert.deepEqual(
      decoder.end().map(({ type }) => type),
      ["done"],
    );
    assert.equal(decoder.failure, undefined);
  });

  it("can be ended once by a failure of its connection, unless it has ended", () => {
    const late = new BowlineError("timeout", "late");
    const whole = new ProxyDecoder(asked, { timestamp: 1 });
    whole.push(sse(start, done));
    assert.deepEqual([whole.fail(late), whole.failure], [[], undefined]);
    assert.equal(whole.message.stopReason, "stop");

    const half = new ProxyDecoder(asked, { timestamp: 1 });
    half.push(sse(start, open, delta));
    assert.deepEqual(
      half.fail(late).map(({ type }) => type),
      ["text_end", "error"],
    );
    assert.deepEqual(half.fail(new BowlineError("aborted", "later")), []);
    assert.deepEqual([half.failure, half.message.error?.code], [late, "timeout"]);

    const corrupted = new ProxyDecoder(asked, { timestamp: 1 });
    corrupted.push(sse("{oops"));
    corrupted.fail(late);
    assert.equal(corrupted.failure?.code, "stream_corrupt");
  });

  it("cannot set an object's prototype", () => {
    const toolCall = JSON.parse(
      '{"__proto__":{"polluted":1},"id":"c","name":"n","arguments":{}}',
    ) as object;
    const { message } = decode(
      sse(start, calling, { type: "toolcall_end", contentIndex: 0, toolCall }, done),
    );
    assert.equal(Object.getPrototypeOf(message.content[0]), Object.prototype);
  });

  it("ends once, adds up and never throws, with events of any order and shape", () => {
    const odd = fc.constantFrom<unknown>(undefined, null, 0, 1, 2, -1, "0", {}, [], "x", true);
    const types = [start, open, delta, close, done, calling].map(({ type }) => type);
    const more = [
      "toolcall_delta",
      "toolcall_end",
      "thinking_start",
      "thinking_delta",
      "thinking_end",
      "opaque_end",
    ];
    const rest = ["request_retry", "model_failover", "message_retract", "error", "new_kind"];
    const event = fc.oneof(
      {
        weight: 6,
        arbitrary: fc.constantFrom<object>(start, open, delta, close, calling, {
          ...open,
          contentIndex: 1,
        }),
      },
      fc.record({
        type: fc.constantFrom(...types, ...more, ...rest),
        contentIndex: fc.constantFrom<unknown>(0, 1, 2, "0"),
        delta: odd,
        part: odd,
        toolCall: odd,
        usage: odd,
        reason: fc.constantFrom<unknown>("stop", "error", "aborted", 5),
        error: odd,
        attempt: odd,
        from: odd,
      }),
    );
    fc.assert(
      fc.property(fc.array(event, { maxLength: 15 }), (events) => {
        const decoded = decode(sse(start, ...events));
        assert.equal(decoded.events.filter(isTerminal).length, 1);
        assert.ok(isTerminal(decoded.events.at(-1)!));
        assert.deepEqual(
          plain(reduceEvents(plain(decoded.events) as AssistantMessageEvent[])),
          plain(decoded.message),
        );
      }),
      { numRuns: 300 },
    );
  });
});
