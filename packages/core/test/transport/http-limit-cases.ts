/**
 * Limits other than silence: the whole call (Q235), the size and time of a refusal (Q226, Q234),
 * bodies that are cut (Q233).
 */
import { begun, http, nothing, type Answer } from "./http-server.ts";
import {
  asJson,
  data,
  hello,
  refused,
  say,
  wholeHello,
  type HttpCase,
  type Wire,
} from "./http-case.ts";

const hel = data(say("Hel"));
const timeout = { code: "timeout", retryable: true } as const;
const dripping = (answer: Answer, bytes: string, everyMs: number, times: number): Answer => ({
  ...answer,
  drip: { bytes, everyMs, times },
});
const held = begun("close", hel, "hold");
/** Sends the beginning of an error body, and never ends. */
const stalled = (status: number, words: string): Answer => ({
  ...http(status, { ...asJson, connection: "close" }, words),
  after: "hold",
});

const within = (totalMs: number): Pick<HttpCase, "options" | "elapsedMs"> => ({
  options: { timeouts: { totalMs } },
  elapsedMs: totalMs,
});
const total: HttpCase[] = [
  {
    name: "Q235 the limit of the whole call ends a stall, keeps the partial answer and is named",
    answers: [held, hello],
    ...within(5000),
    attempts: 1,
    text: "Hel",
    error: { ...timeout, message: /did not finish within 5000 ms/ },
  },
  {
    name: "Q235 it ends a stream that keeps sending",
    answers: [dripping(held, hel, 2000, 20), hello],
    ...within(10_000),
    attempts: 1,
    text: "Hel".repeat(5),
    error: { ...timeout, message: /did not finish within 10 s/ },
  },
  {
    name: "Q235 it ends the wait for headers without a retry",
    answers: [nothing("hold"), hello],
    ...within(5000),
    attempts: 1,
    text: "",
    error: { ...timeout, message: /did not finish within 5000 ms/ },
  },
  {
    name: "Q235 it covers all tries and the waits between them",
    answers: [refused(503), held, hello],
    ...within(1000),
    attempts: 2,
    waits: [250],
    text: "Hel",
    error: { ...timeout, message: /did not finish within 1000 ms/ },
  },
  {
    name: "Q235 a wait beyond the limit does not start, and the failure is reported",
    answers: [refused(503)],
    options: { timeouts: { totalMs: 750 } },
    attempts: 2,
    waits: [250],
    elapsedMs: 250,
    text: "",
    error: { code: "server_error", status: 503, retryable: true },
  },
  {
    name: "Q235 a wait beyond the limit does not start, even if a server asks for it",
    answers: [refused(429, { "retry-after": "20" }), hello],
    options: { timeouts: { totalMs: 20_000 } },
    attempts: 1,
    elapsedMs: 0,
    text: "",
    error: { code: "rate_limited", status: 429, retryable: true, retryAfterMs: 20_000 },
  },
  {
    name: "Q235 it does not affect a call that ends in time",
    answers: [refused(503), hello],
    options: { timeouts: { totalMs: 251 } },
    attempts: 2,
    waits: [250],
    elapsedMs: 250,
    text: "Hello.",
  },
];

const busy = { code: "server_error", status: 500, retryable: true } as const;
const unknown = { code: "authentication_failed", status: 401, retryable: false } as const;
const refusals: HttpCase[] = [
  {
    name: "Q234 a refusal that stalls is still a refusal, with the received text",
    answers: [stalled(401, "Who are"), hello],
    attempts: 1,
    elapsedMs: 120_000,
    text: "",
    error: { ...unknown, message: /HTTP 401.*Who are/ },
  },
  {
    name: "Q234 a retryable refusal that stalls is retried",
    answers: [stalled(500, "No"), hello],
    attempts: 2,
    waits: [250],
    elapsedMs: 120_250,
    text: "Hello.",
  },
  {
    name: "Q234 a refusal that trickles has as long as a stream without content",
    answers: [dripping(stalled(401, "Who"), "!", 50_000, 100), hello],
    attempts: 1,
    elapsedMs: 300_000,
    text: "",
    error: { ...unknown, message: /Who!!!!!$/ },
  },
  {
    name: "Q235 a refusal that stalls is ended by the limit of the whole call",
    answers: [stalled(500, "No"), hello],
    ...within(1000),
    attempts: 1,
    text: "",
    error: { ...busy, message: /HTTP 500.*No/ },
  },
  {
    name: "Q242 only the beginning of a long refusal is read",
    answers: [
      http(
        400,
        { ...asJson, "content-length": "99000000" },
        `Not so. ${"x".repeat(200_000)}`,
        "hold",
      ),
      hello,
    ],
    attempts: 1,
    elapsedMs: 0,
    text: "",
    error: { code: "invalid_request", status: 400, retryable: false, message: /HTTP 400.*Not so/ },
  },
  {
    name: "Q229 only the beginning of a redirect's body is read",
    answers: [
      http(302, { location: "/login", "content-length": "99000000" }, "x".repeat(200_000), "hold"),
      hello,
    ],
    attempts: 1,
    elapsedMs: 0,
    text: "",
    error: { code: "unexpected_response", status: 302, retryable: false, message: /\/login/ },
  },
  {
    name: "Q226 a refusal whose body is reset is still a refusal",
    answers: [{ ...stalled(401, "Who are"), after: "reset" }, hello],
    attempts: 1,
    text: "",
    error: { ...unknown, message: /HTTP 401.*Who are/ },
  },
];

/** Non-streaming answers, "Hello." */
const wholes: Record<Wire, string> = {
  "openai-chat": wholeHello,
  "anthropic-messages":
    '{"type":"message","role":"assistant","content":[{"type":"text","text":"Hello."}],"stop_reason":"end_turn"}',
  "openai-responses":
    '{"object":"response","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"Hello."}]}]}',
  "google-generate":
    '[{"candidates":[{"content":{"parts":[{"text":"Hello."}]},"finishReason":"STOP"}]}]',
};
const whole = (body: string, headers: Record<string, string> = { connection: "close" }): Answer =>
  http(200, { ...asJson, ...headers }, body, "end");

const cuts: HttpCase[] = [
  ...Object.entries(wholes).flatMap(([name, body]): HttpCase[] => {
    const wire = name as Wire;
    const lines = JSON.stringify(JSON.parse(body), null, 2);
    const more = { wire, attempts: 2, text: "Hello." };
    return [
      {
        ...more,
        name: `Q233 a non-streaming answer of ${name} that is cut is retried`,
        answers: [whole(body.slice(0, -4)), whole(body)],
        waits: [250],
      },
      {
        ...more,
        name: `Q233 a non-streaming answer of ${name} in lines, cut in the middle, is retried`,
        answers: [whole(lines.slice(0, lines.indexOf("Hello") + 2)), whole(lines)],
        waits: [250],
      },
      {
        ...more,
        name: `Q233 a non-streaming answer of ${name} that is shorter than announced is retried`,
        answers: [whole(body.slice(0, -4), { "content-length": `${body.length}` }), whole(body)],
        waits: [0],
        fresh: true,
      },
    ];
  }),
  {
    name: "Q233 a non-streaming answer that is cut each time is a truncation, not a wrong address",
    answers: [whole(wholeHello.slice(0, 40))],
    attempts: 3,
    waits: [250, 500],
    text: "",
    error: { code: "stream_truncated", retryable: true },
  },
];

export const limitCases: readonly HttpCase[] = [...total, ...refusals, ...cuts];
