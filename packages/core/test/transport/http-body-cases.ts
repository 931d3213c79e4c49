/**
 * The connection and the body: redirects (Q229), resets (Q230 to Q233), silence (Q234 to Q237),
 * formats (Q238 to Q241).
 */
import { constants, gzipSync } from "node:zlib";
import { begun, http, nothing, type Answer } from "./http-server.ts";
import {
  asEvents,
  asJson,
  data,
  empty,
  finish,
  hello,
  refused,
  say,
  wholeHello,
  type HttpCase,
} from "./http-case.ts";

const text = "Hello.";
const broken = { code: "connection_failed", retryable: true } as const;
const truncated = { code: "stream_truncated", retryable: true } as const;
const timeout = { code: "timeout", retryable: true } as const;
const hel = data(say("Hel"));
const call = { id: "a", index: 0, function: { name: "get_weather", arguments: '{"city":"Oslo"}' } };
const wholeCall = data({ choices: [{ index: 0, delta: { tool_calls: [call] } }] });
const compressed = { ...asEvents, "content-encoding": "gzip", "content-length": "5000" };
const halfGzip = gzipSync(hel, { finishFlush: constants.Z_SYNC_FLUSH });
const moved = (status: number, location?: string): Answer =>
  http(status, location === undefined ? {} : { location }, "moved");

/** The first answers fail and the last one is right; `wait` is the delay before each retry. */
const again = (name: string, wait: number, ...answers: Answer[]): HttpCase => ({
  name,
  answers: [...answers, hello],
  attempts: answers.length + 1,
  waits: answers.map(() => wait),
  text,
});

/** The partial answer is kept, and nothing is retried. */
const kept = (name: string, answer: Answer, error: HttpCase["error"], shown = "Hel"): HttpCase => ({
  name,
  answers: [answer, hello],
  attempts: 1,
  text: shown,
  ...(error && { error }),
});

const redirects: HttpCase[] = [
  ...[301, 302, 303].map((status) =>
    kept(
      `Q229 a ${status} is not followed, and its target is named`,
      moved(status, "/elsewhere"),
      { code: "unexpected_response", status, retryable: false, message: /\/elsewhere/ },
      "",
    ),
  ),
  ...[307, 308].flatMap((status): HttpCase[] => [
    {
      name: `Q229 a ${status} is followed`,
      answers: [moved(status, "/v2/chat"), hello],
      attempts: 2,
      text,
    },
    kept(
      `Q229 a ${status} to another host is not followed, and its target is named`,
      moved(status, "http://localhost/v2"),
      { code: "unexpected_response", status, retryable: false, message: /http:\/\/localhost\/v2/ },
      "",
    ),
  ]),
  kept(
    "Q229 a redirect from http to https changes the origin",
    moved(308, "https://127.0.0.1/v1"),
    {
      code: "unexpected_response",
      status: 308,
      retryable: false,
      message: /https:\/\/127\.0\.0\.1\/v1/,
    },
    "",
  ),
  kept(
    "Q229 a 307 without a target fails",
    moved(307),
    { code: "unexpected_response", status: 307, retryable: false },
    "",
  ),
  kept(
    "Q229 a 307 with an invalid target fails",
    moved(307, "http://["),
    { code: "unexpected_response", status: 307, retryable: false, message: /http:\/\/\[/ },
    "",
  ),
  {
    name: "Q229 a redirect loop ends",
    answers: [moved(307, "/v1/chat/completions")],
    attempts: 4,
    text: "",
    error: {
      code: "unexpected_response",
      status: 307,
      retryable: false,
      message: /\/v1\/chat\/completions/,
    },
  },
  {
    name: "Q229 a failure after a redirect is retried",
    answers: [moved(307, "/v2"), refused(503), moved(307, "/v2"), hello],
    attempts: 4,
    waits: [250],
    text,
  },
];

const resets: HttpCase[] = [
  ...(
    [
      ["the connection is reset before an answer", nothing("reset")],
      ["the connection is closed before an answer", nothing("end")],
      [
        "the headers are cut",
        { ...nothing("end"), bytes: Buffer.from("HTTP/1.1 200 OK\r\ncontent-ty") },
      ],
    ] as const
  ).flatMap(([what, answer]): HttpCase[] => [
    { ...again(`Q230 ${what}: retried at once on a new connection`, 0, answer), fresh: true },
    {
      name: `Q230 ${what}, repeatedly: only the first retry is immediate`,
      answers: [answer],
      attempts: 3,
      waits: [0, 500],
      fresh: true,
      text: "",
      error: broken,
    },
  ]),
  {
    ...again("Q231 a reset after the headers is retried", 0, begun("chunked", "", "reset")),
    fresh: true,
  },
  {
    ...again(
      "Q231 a reset after a keep-alive is retried",
      0,
      begun("chunked", ": hi\n\n", "reset"),
    ),
    fresh: true,
  },
  // Node's fetch takes a reset for the end of a body that only the connection ends, which is then
  // an empty answer.
  again(
    "Q231 a reset that fetch does not report is retried",
    250,
    begun("close", ": hi\n\n", "reset"),
  ),
  kept(
    "Q232 a reset during the stream keeps the partial answer",
    begun("chunked", hel, "reset"),
    broken,
  ),
  kept(
    "Q232 a reset that fetch does not report is a truncation",
    begun("close", hel, "reset"),
    truncated,
  ),
  kept(
    "Q232 a reset after a complete call fails the turn",
    begun("chunked", wholeCall, "reset"),
    broken,
    "",
  ),
  {
    ...again(
      "Q232 a reset during the stream is retried with retryAfterOutput",
      0,
      begun("chunked", hel, "reset"),
    ),
    options: { retryAfterOutput: true },
    fresh: true,
  },
  {
    ...again(
      "Q233 a body shorter than announced is retried",
      0,
      begun("length", ": hi\n\n", "end"),
    ),
    fresh: true,
  },
  {
    ...again("Q233 a body whose chunks are cut is retried", 0, begun("chunked", ": hi\n\n", "end")),
    fresh: true,
  },
  kept(
    "Q233 a body shorter than announced keeps the partial answer",
    begun("length", hel, "end"),
    broken,
  ),
  kept(
    "Q233 a body whose chunks are cut keeps the partial answer",
    begun("chunked", hel, "end"),
    broken,
  ),
  kept(
    "Q233 a compressed body that is cut keeps the partial answer",
    { ...http(200, compressed, halfGzip, "reset"), visible: hel.length },
    broken,
  ),
  kept(
    "Q233 a body that ends with the connection is not complete without an end event",
    begun("close", hel, "end"),
    truncated,
  ),
  kept(
    "Q233 a refusal whose body is cut is still a refusal",
    http(401, { "content-length": "5000" }, "Who are you?", "end"),
    { code: "authentication_failed", status: 401, retryable: false },
    "",
  ),
  kept("Q228 no retry after output", begun("chunked", hel, "reset"), broken),
];

/** A silence that only a time limit ends, and the error after all tries. */
const silent = (name: string, answer: Answer, limitMs: number, message: RegExp): HttpCase => ({
  name,
  answers: [answer],
  attempts: 3,
  waits: [250, 500],
  elapsedMs: 3 * limitMs + 750,
  text: "",
  error: { ...timeout, message },
});
const dripping = (answer: Answer, bytes: string, everyMs: number, times: number): Answer => ({
  ...answer,
  drip: { bytes, everyMs, times },
});
const held = (body: string): Answer => begun("close", body, "hold");

const silences: HttpCase[] = [
  silent("Q234 no byte for 120 s after the headers", held(""), 120_000, /nothing for 120 s/),
  silent(
    "Q234 no byte for 120 s after a keep-alive",
    held(": hi\n\n"),
    120_000,
    /nothing for 120 s/,
  ),
  {
    ...kept("Q234 a stall during the stream keeps the partial answer", held(hel), {
      ...timeout,
      message: /nothing for 120 s/,
    }),
    elapsedMs: 120_000,
  },
  {
    ...kept(
      "Q234 keep-alives extend the wait, but not beyond 300 s without content",
      dripping(held(hel), ": hi\n\n", 50_000, 10),
      { ...timeout, message: /no content for 300 s/ },
    ),
    elapsedMs: 300_000,
  },
  {
    name: "Q234 content extends the wait without a limit",
    answers: [dripping(held(hel), hel, 110_000, 20), hello],
    attempts: 1,
    text: "Hel".repeat(21),
    elapsedMs: 20 * 110_000 + 120_000,
    error: timeout,
  },
  {
    ...silent("Q234 the limits can be set", held(": hi\n\n"), 5000, /nothing for 5000 ms/),
    options: { timeouts: { idleMs: 5000 } },
  },
  silent("Q235 no headers for 600 s", nothing("hold"), 600_000, /no response for 600 s/),
  {
    name: "Q235 the limit for the headers does not apply to the body",
    answers: [dripping(held(hel), hel, 100_000, 3), hello],
    options: { timeouts: { firstByteMs: 1000 } },
    attempts: 1,
    text: "HelHelHelHel",
    elapsedMs: 3 * 100_000 + 120_000,
    error: { ...timeout, message: /nothing for 120 s/ },
  },
];

const aborted = { code: "aborted", retryable: false } as const;
const aborts: HttpCase[] = [
  {
    ...kept("Q237 an abort before the headers", nothing("hold"), aborted, ""),
    abort: "stall",
  },
  { ...kept("Q237 an abort before the first event", held(""), aborted, ""), abort: "stall" },
  {
    ...kept("Q237 an abort during the stream keeps the partial answer", held(hel), aborted),
    abort: "stall",
  },
  {
    ...kept(
      "Q237 an abort while a refusal is read",
      { ...http(500, { connection: "close" }), after: "hold" },
      aborted,
      "",
    ),
    abort: "stall",
  },
  {
    ...kept(
      "Q237 an abort during the wait for a retry",
      refused(429, { "retry-after": "30" }),
      aborted,
      "",
    ),
    abort: "retry",
    waits: [30_000],
    elapsedMs: 0,
  },
];

const right = (name: string, answer: Answer, more: Partial<HttpCase> = {}): HttpCase => ({
  name,
  answers: [answer],
  attempts: 1,
  text,
  ...more,
});
const quoted = (body: string): HttpCase["error"] => ({
  code: "unexpected_response",
  retryable: false,
  message: new RegExp(body.replace(/[{}]/g, "\\$&")),
});
const events = data(say("Hello."), finish(), "[DONE]");

const shapes: HttpCase[] = [
  right("Q238 blank lines before JSON", http(200, asJson, `\n\n\n${wholeHello}`)),
  right("Q239 [DONE] after JSON", http(200, asJson, `${wholeHello}\n[DONE]`)),
  right("Q239 white space after JSON", http(200, asJson, `${wholeHello}\n \n`)),
  right("Q240 an event stream for a non-streaming request", http(200, asEvents, events), {
    options: { extraBody: { stream: false } },
  }),
  right("Q240 an event stream under another content type", http(200, asJson, events)),
  kept(
    'Q241 {"choices":null} is quoted',
    http(200, asJson, '{"choices":null}'),
    quoted('{"choices":null}'),
    "",
  ),
  kept(
    'Q241 {"result":"ok"} is quoted',
    http(200, asJson, '{"result":"ok"}'),
    quoted('{"result":"ok"}'),
    "",
  ),
];

const botched = {
  message: "Failed to call a function.",
  type: "invalid_request_error",
  code: "tool_use_failed",
  failed_generation: "<f>{}",
};
const poor: HttpCase[] = [
  {
    name: "Q092 an empty answer is retried twice and then reported",
    answers: [empty],
    attempts: 3,
    waits: [250, 500],
    text: "",
    error: { code: "empty_response", retryable: true },
  },
  {
    ...again(
      "Q092 empty answers and failed requests have separate retry counts",
      0,
      refused(503),
      empty,
      refused(503),
      empty,
    ),
    waits: [250, 250, 500, 500],
  },
  {
    name: "Q092 empty answers are retried twice even with a higher maxRetries",
    answers: [empty],
    options: { maxRetries: 9 },
    attempts: 3,
    waits: [250, 500],
    text: "",
    error: { code: "empty_response", retryable: true },
  },
  {
    name: "Q092 an empty answer is reported at once with maxRetries: 0",
    answers: [empty, hello],
    options: { maxRetries: 0 },
    attempts: 1,
    text: "",
    error: { code: "empty_response", retryable: true },
  },
  again(
    "Q104 a malformed call of the model is retried",
    250,
    http(400, asJson, JSON.stringify({ error: botched })),
  ),
  {
    name: "Q104 a malformed call in a 200 is retried twice, apart from failed requests",
    answers: [
      http(200, asEvents, data({ error: botched })),
      refused(503),
      http(200, asEvents, data({ error: botched })),
      hello,
    ],
    options: { maxRetries: 2 },
    attempts: 4,
    waits: [250, 250, 500],
    text,
  },
  {
    name: "Q207 a malformed call of Gemini is retried twice and then reported",
    wire: "google-generate",
    answers: [
      http(
        200,
        asEvents,
        data({ candidates: [{ content: {}, finishReason: "MALFORMED_FUNCTION_CALL" }] }),
      ),
    ],
    options: { maxRetries: 9 },
    attempts: 3,
    waits: [250, 500],
    text: "",
    error: { code: "server_error", retryable: true, message: /MALFORMED_FUNCTION_CALL/ },
  },
];

export const bodyCases: readonly HttpCase[] = [
  ...redirects,
  ...resets,
  ...silences,
  ...aborts,
  ...shapes,
  ...poor,
];
