/**
 * Recording and replay over real sockets: the bytes and their chunks, failures at their places, and
 * redaction.
 */
import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { describe, it } from "node:test";
import fc from "fast-check";
import { systemClock } from "../../src/clock.ts";
import { isBowlineError } from "../../src/errors.ts";
import type { AssistantMessageEvent } from "../../src/llm/event.ts";
import type { Context } from "../../src/llm/message.ts";
import { streamOpenaiChat } from "../../src/providers/openai-chat/index.ts";
import { getModel } from "../../src/providers/vendors.ts";
import { createRecorder, type Recorder } from "../../src/transport/record.ts";
import type { Recording } from "../../src/transport/recording.ts";
import { fromRecordedBytes } from "../../src/transport/recording.ts";
import { createRedactor } from "../../src/transport/redact.ts";
import { failing, loopback, streamed, type Handler } from "../../../../test/support/loopback.ts";

const text = new TextEncoder();

/** No limits, because their timers would fire at once. */
const silence = { firstByteMs: 0, idleMs: 0, progressMs: 0 };

/** Sends these chunks one by one, each when the one before has been read, and ends the body. */
function cut(reads: EventEmitter, ...chunks: readonly (string | Uint8Array)[]): Handler {
  return async (response) => {
    response.writeHead(200, { "content-type": "text/event-stream", "set-cookie": "id=1" });
    for (const chunk of chunks) {
      const taken = once(reads, "read");
      response.write(chunk);
      await taken;
    }
    response.end();
  };
}

const post = (body: object, headers: Record<string, string> = {}): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(body),
});

function streamOf(chunks: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
}

interface Read {
  readonly status: number;
  readonly chunks: Uint8Array[];
  readonly error?: unknown;
}

async function read(fetching: Promise<Response>, reads = new EventEmitter()): Promise<Read> {
  const response = await fetching;
  const chunks: Uint8Array[] = [];
  try {
    for await (const chunk of response.body ?? []) {
      chunks.push(chunk);
      reads.emit("read");
    }
    return { status: response.status, chunks };
  } catch (error) {
    return { status: response.status, chunks, error };
  }
}

/** The recording after a round trip through a file. */
const saved = ({ recording }: Recorder): Recording =>
  JSON.parse(JSON.stringify(recording)) as Recording;

const player = (recorder: Recorder, more: object = {}): Recorder =>
  createRecorder({ mode: "playback", recording: saved(recorder), ...more });

describe("a recorder", () => {
  it("replays a streamed answer without the server, with the same chunks", async () => {
    const snowman = text.encode("data: ☃\n\n");
    const reads = new EventEmitter();
    const server = await loopback(
      cut(reads, "data: a\n", "\nda", snowman.subarray(0, 7), snowman.subarray(7)),
    );
    const recorder = createRecorder({ mode: "record" });
    const url = `${server.baseUrl}/chat/completions`;
    const live = await read(recorder.fetch(url, post({ model: "m", stream: true })), reads);
    await server[Symbol.asyncDispose]();
    assert.equal(live.chunks.length, 4);
    const played = await read(player(recorder).fetch(url, post({ stream: true, model: "m" })));
    assert.deepEqual(played, live);
    assert.deepEqual(saved(recorder).exchanges[0]?.response?.chunks.slice(0, 2), [
      "data: a\n",
      "\nda",
    ]);
  });

  it("replays an error status with its headers, and a response without a body", async () => {
    const empty: Handler = (response) => response.writeHead(204).end();
    await using server = await loopback(
      failing(429, { error: "slow down" }, { "retry-after": "7" }),
      empty,
    );
    const recorder = createRecorder({ mode: "record" });
    const live = await recorder.fetch(server.baseUrl, post({ n: 1 }));
    const body = await live.text();
    assert.equal((await recorder.fetch(server.baseUrl)).status, 204);
    const { fetch } = player(recorder);
    const played = await fetch(server.baseUrl, post({ n: 1 }));
    assert.deepEqual(
      [played.status, played.url, played.headers.get("retry-after"), await played.text()],
      [429, live.url, "7", body],
    );
    assert.deepEqual([live.url, body], [server.baseUrl, '{"error":"slow down"}']);
    assert.equal((await fetch(server.baseUrl)).body, null);
  });

  it("replays a broken stream up to the same point, with the same error", async () => {
    const broken: Handler = (response) => {
      response.writeHead(200).write("half an ans");
      setTimeout(() => response.destroy(), 20);
    };
    await using server = await loopback(broken);
    const recorder = createRecorder({ mode: "record" });
    const live = await read(recorder.fetch(server.baseUrl));
    const played = await read(player(recorder).fetch(server.baseUrl));
    const seen = ({ chunks, error }: Read): unknown[] => {
      const { name, message, cause } = error as Error & {
        cause: { code?: string; message: string };
      };
      return [chunks, error instanceof TypeError, name, message, cause.code, cause.message];
    };
    assert.deepEqual(seen(played), seen(live));
    assert.equal(live.chunks.length, 1);
  });

  it("replays a refused connection", async () => {
    const server = await loopback();
    await server[Symbol.asyncDispose]();
    const recorder = createRecorder({ mode: "record" });
    await assert.rejects(recorder.fetch(server.baseUrl), {
      name: "TypeError",
      message: "fetch failed",
    });
    await assert.rejects(player(recorder).fetch(server.baseUrl), (error: Error) => {
      return (
        error instanceof TypeError && (error.cause as { code?: string }).code === "ECONNREFUSED"
      );
    });
  });

  it("replays an abort as the same failure", async () => {
    const recorder = createRecorder({ mode: "record" });
    await using server = await loopback((response) => response.writeHead(200).write("begun"));
    const controller = new AbortController();
    const response = await recorder.fetch(server.baseUrl, { signal: controller.signal });
    const reader = response.body?.getReader();
    await reader?.read();
    controller.abort();
    await assert.rejects(async () => reader?.read(), { name: "AbortError" });
    const { chunks, error } = await read(player(recorder).fetch(server.baseUrl));
    assert.deepEqual([chunks.length, (error as Error).name], [1, "AbortError"]);
  });

  it("is valid and marked incomplete when its reader left early or is still reading", async () => {
    await using server = await loopback((response) => response.writeHead(200).write("one"));
    const recorder = createRecorder({ mode: "record" });
    const response = await recorder.fetch(server.baseUrl);
    assert.equal(recorder.recording.exchanges[0]?.incomplete, true);
    const reader = response.body?.getReader();
    await reader?.read();
    const waiting = reader?.read();
    await reader?.cancel();
    assert.equal((await waiting)?.done, true);
    assert.deepEqual(
      recorder.recording.exchanges.map(({ response: kept, incomplete }) => [
        kept?.chunks,
        incomplete,
      ]),
      [[["one"], true]],
    );
    const { chunks, error } = await read(player(recorder).fetch(server.baseUrl));
    assert.equal(chunks.length, 1);
    assert.match((error as Error).message, /^The recording of GET http:.* ends here/);
  });

  it("records every form of request, and passes a plain one on unchanged", async () => {
    const seen: unknown[] = [];
    const fetch: typeof globalThis.fetch = async (input, init) => {
      seen.push(typeof input, init?.body ?? null);
      return new Response(await new Request(input, init).text());
    };
    const recorder = createRecorder({ mode: "record", fetch });
    const url = "http://127.0.0.1/x";
    const forms = [
      [url, { method: "POST", body: "a" }],
      [new Request(url, { method: "POST", body: "b" }), undefined],
      [new URL(url), { method: "POST", body: text.encode("c") }],
    ] as const;
    for (const [input, init] of forms) await (await recorder.fetch(input, init)).text();
    assert.deepEqual(seen.slice(0, 2), ["string", "a"]);
    assert.deepEqual(
      recorder.recording.exchanges.map(({ request, response }) => [request.body, response?.chunks]),
      ["a", "b", "c"].map((body) => [body, [body]]),
    );
  });
});

describe("a model call through a recorder", () => {
  it("gives the same events again, because ids and retry jitter are injected", async () => {
    const call = { index: 0, function: { name: "f", arguments: "{}" } };
    const answer = streamed(
      { choices: [{ delta: { tool_calls: [call] }, finish_reason: "tool_calls" }] },
      "[DONE]",
    );
    const server = await loopback(failing(503, "busy"), answer);
    const model = getModel("custom", "m", { baseUrl: server.baseUrl });
    const context: Context = { messages: [{ role: "user", content: "hi", timestamp: 1 }] };
    const eventsWith = async ({ fetch }: Recorder): Promise<string> => {
      let ids = 0;
      const clock = {
        now: () => 1,
        setTimer: (_: number, fire: () => void) => systemClock.setTimer(1, fire),
      };
      const options = {
        fetch,
        clock,
        createId: () => `id${++ids}`,
        random: () => 0.5,
        timeouts: silence,
      };
      const events: AssistantMessageEvent[] = [];
      for await (const event of streamOpenaiChat(model, context, options)) events.push(event);
      return JSON.stringify(events);
    };
    const recorder = createRecorder({ mode: "record" });
    const live = await eventsWith(recorder);
    await server[Symbol.asyncDispose]();
    assert.match(live, /request_retry.*"id":"call_id1"/);
    assert.equal(await eventsWith(player(recorder)), live);
    assert.equal(
      recorder.recording.exchanges[1]?.incomplete,
      undefined,
      "the body was read to its end",
    );
  });
});

describe("the choice of a recorded exchange", () => {
  const recordedWith = async (bodies: readonly object[]): Promise<Recorder> => {
    let count = 0;
    const recorder = createRecorder({
      mode: "record",
      fetch: async () => new Response(`answer ${++count}`),
    });
    for (const body of bodies) await (await recorder.fetch("http://h/v1", post(body))).text();
    return recorder;
  };

  it("answers equal requests in order, each once", async () => {
    const { fetch } = player(await recordedWith([{ a: 1 }, { b: 2 }, { a: 1 }]));
    const ask = async (body: object): Promise<string> =>
      (await fetch("http://h/v1", post(body))).text();
    assert.deepEqual(
      [await ask({ a: 1 }), await ask({ a: 1 }), await ask({ b: 2 })],
      ["answer 1", "answer 3", "answer 2"],
    );
    await assert.rejects(ask({ a: 1 }), {
      code: "invalid_state",
      message:
        "No recorded answer for POST http://h/v1: all recordings of this request were already used (such as number 1).",
    });
  });

  it("reports a miss in one line, with the nearest request and its first difference", async () => {
    const messages = (last: string): object => ({
      model: "m",
      messages: [{ content: "hi" }, { content: last }],
    });
    const { fetch } = player(
      await recordedWith([{ model: "other" }, messages(`${"long ".repeat(20)}ago\nx`)]),
    );
    const miss = (asked: Promise<Response>): Promise<string> =>
      asked.then(
        () => "",
        (error: unknown) => (isBowlineError(error) ? error.message : ""),
      );
    assert.equal(
      await miss(fetch("http://h/v1", post(messages(`${"long ".repeat(20)}since`)))),
      'No recorded answer for POST http://h/v1: the nearest, number 2, differs first at body.messages[1].content: expected the string "…g long long ago\\nx", received the string "…g long long since".',
    );
    assert.match(
      await miss(fetch("http://h/v2", post(messages("x")))),
      /number 2, differs first at url: expected/,
    );
    assert.match(
      await miss(fetch("http://h/v1")),
      /differs first at method: .*"POST", received the string "GET"/,
    );
    assert.match(
      await miss(createRecorder({ mode: "playback" }).fetch("http://h/")),
      /^No recorded answer for GET http:\/\/h\/: nothing is recorded\.$/,
    );
  });

  it("ignores differences only by the caller's normalize()", async () => {
    const recorder = await recordedWith([{ id: 1, q: "x" }]);
    await assert.rejects(
      player(recorder).fetch("http://h/v1", post({ id: 2, q: "x" })),
      /body\.id: expected number 1/,
    );
    const { fetch } = player(recorder, {
      normalize: (request: { body?: object }) => ({ ...request, body: { ...request.body, id: 0 } }),
    });
    assert.equal(await (await fetch("http://h/v1", post({ id: 2, q: "x" }))).text(), "answer 1");
  });

  it("matches any value in place of a redacted secret, so that replay needs no secret", async () => {
    const recorder = createRecorder({
      mode: "record",
      redact: ["hunter22"],
      fetch: async () => new Response("in"),
    });
    await (await recorder.fetch("http://h/v1?key=a", post({ said: "it is hunter22 now" }))).text();
    const { fetch } = player(recorder);
    await assert.rejects(
      fetch("http://h/v1?key=", post({ said: "it was hunter22 now" })),
      /body\.said: expected/,
    );
    assert.equal(
      await (await fetch("http://h/v1?key=", post({ said: "it is [hidden] now" }))).text(),
      "in",
    );
  });

  it("sends unrecorded requests in update mode, and stores both", async () => {
    const recording = saved(await recordedWith([{ a: 1 }]));
    const recorder = createRecorder({
      mode: "update",
      recording,
      fetch: async () => new Response("new"),
    });
    const ask = async (body: object): Promise<string> =>
      (await recorder.fetch("http://h/v1", post(body))).text();
    assert.deepEqual(
      [await ask({ b: 2 }), await ask({ a: 1 }), await ask({ a: 1 })],
      ["new", "answer 1", "new"],
    );
    const { fetch } = player(recorder);
    const played = [{ a: 1 }, { a: 1 }, { b: 2 }].map(async (body) =>
      (await fetch("http://h/v1", post(body))).text(),
    );
    assert.deepEqual(await Promise.all(played), ["answer 1", "new", "new"]);
  });

  it("refuses a recording of another version or shape", () => {
    for (const [recording, said] of [
      [{ version: 2, exchanges: [] }, /version 2\. Only version 1 can be played back/],
      [{}, /has no version/],
      [
        {
          version: 1,
          exchanges: [{ request: { method: "GET", url: "u" }, response: { status: 200 } }],
        },
        /Exchange 0/,
      ],
      [
        { version: 1, exchanges: [{ request: { method: "GET", url: "u" }, response: null }] },
        /Exchange 0/,
      ],
      ...[{}, { base64: 5 }, 5, null].map(
        (body) =>
          [
            { version: 1, exchanges: [{ request: { method: "GET", url: "u", body } }] },
            /Exchange 0 of the recording is not valid/,
          ] as const,
      ),
    ] as const) {
      const wrong = recording as unknown as Recording;
      assert.throws(() => createRecorder({ mode: "playback", recording: wrong }), said);
    }
  });
});

describe("redaction", () => {
  it("keeps the names of secret headers and parameters, and redacts their values", () => {
    const redactor = createRedactor();
    const names = [
      "authorization",
      "x-api-key",
      "x-goog-api-key",
      "api-key",
      "cookie",
      "set-cookie",
      "proxy-authorization",
      "x-amz-security-token",
    ];
    const headers = redactor.headers(new Headers(names.map((name) => [name, "hush"])));
    assert.deepEqual(
      headers,
      Object.fromEntries(names.toSorted().map((name) => [name, "[redacted]"])),
    );
    const kept = { "anthropic-ratelimit-tokens-remaining": "9", "x-request-id": "req_1" };
    assert.deepEqual(redactor.headers(new Headers(kept)), kept);
    assert.equal(
      redactor.url(
        "https://me:pw@h/v1?key=a&alt=sse&api_key=b&access_token=c&X-Amz-Signature=d&password=e&v=1#x",
      ),
      "https://[redacted]@h/v1?key=[redacted]&alt=sse&api_key=[redacted]&access_token=[redacted]&X-Amz-Signature=[redacted]&password=[redacted]&v=1#x",
    );
  });

  it("recognises keys by their shape, and keeps ordinary words", () => {
    const { text: redact } = createRedactor();
    const key = "sk-proj-abcDEF0123456789";
    assert.equal(
      redact(JSON.stringify({ a: `x\n${key}`, b: key })),
      '{"a":"x\\n[redacted]","b":"[redacted]"}',
    );
    for (const words of ["risk-averse-task-force-members", "sk-short", "desk-abcdefghijklmnop1234"])
      assert.equal(redact(words), words);
  });

  it("ignores a given secret of less than eight characters, because it may be a word", () => {
    const { text: redact, url } = createRedactor(["", "ollama", " short ", "hunter22"]);
    assert.equal(redact("ollama is short of hunter22"), "ollama is short of [redacted]");
    assert.equal(
      url("http://ollama/v1?key=ollama&q=hunter22"),
      "http://ollama/v1?key=[redacted]&q=[redacted]",
    );
  });

  it("removes a given secret from the whole recording, for any chunks", async () => {
    const secret = fc.oneof(
      fc.string({ minLength: 8, maxLength: 30 }),
      fc.string({ minLength: 8, maxLength: 30, unit: "binary" }),
      fc.stringMatching(/^[\w-]{8,40}$/),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(secret, { minLength: 1, maxLength: 3 }),
        fc.array(fc.nat({ max: 12 }), { maxLength: 40 }),
        async (given, sizes) => {
          const secrets = given.filter((one) => one.trim().length >= 8 && !/redacted/.test(one));
          fc.pre(secrets.length > 0);
          const said =
            JSON.stringify({ said: secrets, more: secrets.join("") }) + secrets.join("\n");
          const bytes = text.encode(said);
          const chunks: Uint8Array[] = [];
          let at = 0;
          for (const size of [...sizes, bytes.length]) chunks.push(bytes.slice(at, (at += size)));
          const inUrl = secrets.map((one) => new URLSearchParams({ q: one }).toString()).join("&");
          const recorder = createRecorder({
            mode: "record",
            redact: secrets,
            fetch: async () =>
              new Response(streamOf(chunks), {
                headers: { "x-echo": encodeURIComponent(secrets[0] ?? "") },
              }),
          });
          const asked = (): [string, RequestInit] => [
            `http://h/?${inUrl}`,
            post({ secrets }, { "x-other": "b" }),
          ];
          const response = await recorder.fetch(...asked());
          assert.equal(
            await response.text(),
            new TextDecoder().decode(bytes),
            "whoever asks gets it all",
          );
          const recording = saved(recorder);
          const file = JSON.stringify(recording);
          const { request, response: kept } = recording.exchanges[0] ?? assert.fail();
          const parts = (kept?.chunks ?? []).map(fromRecordedBytes);
          const sent = new URL(request.url).searchParams.values().toArray();
          const echo = decodeURIComponent(kept?.headers["x-echo"] ?? "");
          const body = new TextDecoder().decode(Buffer.concat(parts));
          for (const one of secrets) {
            for (const form of [one, JSON.stringify(one).slice(1, -1)]) {
              assert.ok(!file.includes(form), `${form} in ${file}`);
              for (const whole of [body, echo, ...sent, JSON.stringify(request.body)])
                assert.ok(!whole.includes(form), whole);
            }
          }
          assert.equal(parts.length, chunks.length);
          const replayed = createRecorder({ mode: "playback", recording, redact: secrets });
          assert.equal(await (await replayed.fetch(...asked())).text(), body);
        },
      ),
    );
  });
});
