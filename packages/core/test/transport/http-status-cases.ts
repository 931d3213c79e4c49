/**
 * Status and headers: delays (Q220 to Q223, Q245), retries (Q224 to Q227), refusals (Q242, Q243).
 */
import type { ErrorCode } from "../../src/errors.ts";
import { http, type Answer } from "./http-server.ts";
import { asEvents, asJson, data, hello, refused, type HttpCase, type Wire } from "./http-case.ts";

/** A temporary 429, and the wait before the retry. */
const waits = (
  name: string,
  ms: number,
  headers: Record<string, string>,
  message?: string,
): HttpCase => ({
  name,
  answers: [refused(429, headers, message), hello],
  attempts: 2,
  waits: [ms],
  text: "Hello.",
});

/** A 429 whose delay is above the cap. */
const tooLong = (
  name: string,
  ms: number,
  headers: Record<string, string>,
  message?: string,
): HttpCase => ({
  name,
  answers: [refused(429, { "x-request-id": "r7", ...headers }, message), hello],
  attempts: 1,
  text: "",
  error: {
    code: "rate_limited",
    status: 429,
    retryable: true,
    retryAfterMs: ms,
    requestId: "r7",
    message: new RegExp(`asks to wait ${Math.ceil(ms / 1000)} s`),
  },
});

/** Fails without a retry. */
const final = (
  name: string,
  answer: Answer,
  error: HttpCase["error"],
  more: { readonly wire?: Wire; readonly path?: string } = {},
): HttpCase => ({
  name,
  answers: [answer, hello],
  attempts: 1,
  text: "",
  ...(error && { error }),
  ...more,
});

const fallback = 250; // half of the first 500 ms

const delays: HttpCase[] = [
  waits("Q220 waits for a delay in seconds", 20_000, { "retry-after": "20" }),
  waits("Q220 waits for a delay equal to the cap", 60_000, { "retry-after": "60" }),
  waits("Q220 waits for a delay given as a date", 31_000, {
    "retry-after": "Sat, 21 Nov 2026 10:00:30 GMT",
  }),
  waits("Q220 ignores a date in the past", fallback, {
    "retry-after": "Sat, 21 Nov 2026 09:59:00 GMT",
  }),
  waits("Q220 ignores a negative delay", fallback, { "retry-after": "-1" }),
  waits("Q220 ignores a delay of zero", fallback, { "retry-after": "0" }),
  waits("Q220 ignores a delay in words", fallback, { "retry-after": "soon" }),
  {
    ...waits("Q220 waits for the delay of a 503", 7000, {}),
    answers: [refused(503, { "retry-after": "7" }), hello],
  },
  tooLong("Q220 a delay above the cap fails at once and is reported", 120_000, {
    "retry-after": "120",
  }),
  tooLong("Q220 a huge delay fails at once", 100_000_000_000, { "retry-after": "100000000" }),
  tooLong("Q220 a date far away fails at once", 3_601_000, {
    "retry-after": "Sat, 21 Nov 2026 11:00:00 GMT",
  }),
  {
    ...waits("Q220 the cap can be raised", 120_000, { "retry-after": "120" }),
    options: { maxRetryDelayMs: 120_000 },
  },
  {
    ...waits("Q220 the cap can be removed", 3_600_000, { "retry-after": "3600" }),
    options: { maxRetryDelayMs: 0 },
  },
  {
    ...waits("Q220 the cap applies to servers' delays, not to the client's backoff", fallback, {}),
    options: { maxRetryDelayMs: 100 },
  },
  waits("Q221 retry-after-ms is in milliseconds", 100, { "retry-after-ms": "100" }),
  waits("Q221 retry-after-ms precedes retry-after", 100, {
    "retry-after": "20",
    "retry-after-ms": "100",
  }),
  waits("Q222 a reset in seconds", 6000, { "x-ratelimit-reset-requests": "6s" }),
  waits("Q222 a reset in milliseconds", 120, { "x-ratelimit-reset-tokens": "120ms" }),
  waits("Q222 a reset as epoch seconds", 42_000, { "x-ratelimit-reset": "1795255242" }),
  waits("Q222 a reset as epoch milliseconds", 42_500, { "x-ratelimit-reset": "1795255242500" }),
  waits("Q222 a reset as a date", 31_000, {
    "anthropic-ratelimit-requests-reset": "2026-11-21T10:00:30Z",
  }),
  waits("Q222 the reset of the exhausted limit", 6000, {
    "x-ratelimit-remaining-requests": "0",
    "x-ratelimit-reset-requests": "6s",
    "x-ratelimit-remaining-tokens": "39000",
    "x-ratelimit-reset-tokens": "50s",
  }),
  waits("Q222 the latest reset of the exhausted limits", 30_000, {
    "anthropic-ratelimit-requests-remaining": "0",
    "anthropic-ratelimit-requests-reset": "2026-11-21T10:00:04Z",
    "anthropic-ratelimit-tokens-remaining": "0",
    "anthropic-ratelimit-tokens-reset": "2026-11-21T10:00:29Z",
  }),
  waits("Q222 ignores a limit that is not exhausted", fallback, {
    "x-ratelimit-remaining": "12",
    "x-ratelimit-reset": "42",
  }),
  waits("Q222 x-ratelimit-reset-after", 7000, { "x-ratelimit-reset-after": "7" }),
  waits("Q222 retry-after precedes resets", 2000, {
    "x-ratelimit-reset-requests": "6s",
    "retry-after": "2",
  }),
  waits("Q222 ignores a reset in the past", fallback, { "x-ratelimit-reset": "1795255100" }),
  tooLong("Q222 a reset in minutes and seconds, above the cap", 86_400, {
    "x-ratelimit-reset-tokens": "1m26.4s",
  }),
  {
    ...waits("Q222 ignores a reset on a 503", fallback, {}),
    answers: [refused(503, { "x-ratelimit-reset-tokens": "1m26.4s" }), hello],
  },
  waits("Q223 a delay in the message", 1500, {}, "Rate limit reached. Please try again in 1.5s."),
  waits("Q223 a delay in Gemini's wording", 13_500, {}, "Please retry in 13.5s."),
  waits(
    "Q223 headers precede the message",
    2000,
    { "retry-after": "2" },
    "Please try again in 20s.",
  ),
  tooLong("Q223 a delay in the message, above the cap", 360_000, {}, "Please try again in 6m0s."),
  waits("Q245 a date counts from the server's date, to the end of its second", 4000, {
    date: "Sat, 21 Nov 2026 08:30:00 GMT",
    "retry-after": "Sat, 21 Nov 2026 08:30:03 GMT",
  }),
  waits("Q245 without the server's date it counts from the client's clock", 4000, {
    "retry-after": "Sat, 21 Nov 2026 10:00:03 GMT",
  }),
];

const quota = { code: "quota_exceeded", status: 429, retryable: false } as const;
const limited = (error: object): Answer => http(429, asJson, JSON.stringify({ error }));

const verdicts: HttpCase[] = [
  final("Q224 x-should-retry false holds for a 429", refused(429, { "x-should-retry": "false" }), {
    code: "rate_limited",
    status: 429,
    retryable: false,
  }),
  final("Q224 x-should-retry false holds for a 500", refused(500, { "x-should-retry": "false" }), {
    code: "server_error",
    status: 500,
    retryable: false,
  }),
  {
    name: "Q224 x-should-retry true holds for a 400",
    answers: [refused(400, { "x-should-retry": "true" }), hello],
    attempts: 2,
    waits: [fallback],
    text: "Hello.",
  },
  final(
    "Q225 insufficient_quota is final",
    limited({ code: "insufficient_quota", message: "No." }),
    quota,
  ),
  final(
    "Q225 insufficient_quota is final despite any header",
    http(
      429,
      { ...asJson, "retry-after": "1" },
      '{"error":{"code":"insufficient_quota","message":"No."}}',
    ),
    { ...quota, retryAfterMs: 1000 },
  ),
  final(
    "Q225 a daily limit is final",
    refused(429, {}, "You have reached your daily limit."),
    quota,
  ),
  final("Q225 a monthly limit is final", refused(429, {}, "Monthly limit reached."), quota),
  final("Q225 a plan limit is final", refused(429, {}, "You have hit your plan limit."), quota),
  final("Q225 billing is final", refused(429, {}, "Check your billing details."), quota),
  final("Q225 missing credits are final", refused(429, {}, "Insufficient credits."), quota),
  final(
    "Q225 Z.AI's 1308 is final in any language",
    limited({ code: "1308", message: "已达到使用上限" }),
    quota,
  ),
  final("Q225 a 402 is final", refused(402, {}, "Insufficient credits."), {
    ...quota,
    status: 402,
  }),
];

const codes: readonly (readonly [ErrorCode, ...number[]])[] = [
  ["invalid_request", 400, 422],
  ["authentication_failed", 401],
  ["permission_denied", 403],
  ["not_found", 404],
  ["request_too_large", 413],
];
const passing: readonly (readonly [ErrorCode, ...number[]])[] = [
  ["timeout", 408],
  ["invalid_request", 409, 424, 425],
  ["rate_limited", 429],
  ["server_error", 500, 501, 502, 503, 504, 507, 520, 521, 522, 523, 524, 525, 530],
];
const statuses: HttpCase[] = [
  ...codes.flatMap(([code, ...all]) =>
    all.map((status) =>
      final(`Q226 ${status} is final`, refused(status, { "x-request-id": "r7" }, "Not so."), {
        code,
        status,
        retryable: false,
        requestId: "r7",
        message: new RegExp(`HTTP ${status}.*Not so`),
      }),
    ),
  ),
  ...passing.flatMap(([code, ...all]) =>
    all.map((status): HttpCase => ({
      name: `Q226 ${status} is retried twice and then reported`,
      answers: [refused(status, { "request-id": "r7" }, "Not now.")],
      attempts: 3,
      waits: [250, 500],
      text: "",
      error: { code, status, retryable: true, requestId: "r7", message: /Not now/ },
    })),
  ),
  {
    name: "Q226 maxRetries can be raised: each wait doubles, up to 8 s",
    answers: [refused(500)],
    options: { maxRetries: 7 },
    attempts: 8,
    waits: [250, 500, 1000, 2000, 4000, 4000, 4000],
    text: "",
    error: { code: "server_error", status: 500, retryable: true },
  },
  {
    name: "Q226 no retries with maxRetries: 0",
    answers: [refused(500), hello],
    options: { maxRetries: 0 },
    attempts: 1,
    text: "",
    error: { code: "server_error", status: 500, retryable: true },
  },
  {
    name: "Q227 an overloaded server gets longer waits",
    wire: "anthropic-messages",
    answers: [
      http(
        529,
        asJson,
        '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
      ),
    ],
    attempts: 3,
    waits: [1000, 2000],
    text: "",
    error: { code: "overloaded", status: 529, retryable: true },
  },
  {
    name: "Q227 an overloaded server that says so in a 200 gets longer waits",
    wire: "anthropic-messages",
    answers: [
      http(
        200,
        asEvents,
        'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"No"}}\n\n',
      ),
    ],
    attempts: 3,
    waits: [1000, 2000],
    text: "",
    error: { code: "overloaded", status: 529, retryable: true },
  },
];

const refusals: HttpCase[] = [
  final("Q242 a 422 without a body names status, URL and model", http(422), {
    code: "invalid_request",
    status: 422,
    retryable: false,
    message: /127\.0\.0\.1:\d+\/v1\/chat\/completions.*422.*"the-model"/,
  }),
  final(
    "Q242 a 400 without a body names the model on a wire whose body has none",
    http(400),
    { code: "invalid_request", status: 400, retryable: false, message: /HTTP 400.*"the-model"/ },
    { wire: "google-generate" },
  ),
  ...[400, 413].map((status) =>
    final(
      `Q242 an empty ${status} of Cerebras is a context overflow`,
      http(status),
      { code: "context_overflow", status, retryable: false, message: /"the-model"/ },
      { path: "/gateway/cerebras/v1" },
    ),
  ),
];

const overflows: readonly (readonly [string, string, number?])[] = [
  ["OpenAI", "This model's maximum context length is 128000 tokens."],
  ["OpenAI, shorter", "Your input exceeds the context window of this model."],
  ["Anthropic", "prompt is too long: 210000 tokens > 200000 maximum"],
  [
    "Gemini",
    "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
  ],
  ["Bedrock", "Input is too long for requested model."],
  [
    "OpenRouter",
    "This endpoint's maximum context length is 8192 tokens. However, you requested about 9000 tokens",
  ],
  ["Poolside", "The request is above the maximum allowed input length"],
  ["xAI", "The maximum prompt length is 131072 but the request contains 140000 tokens."],
  ["Groq", "Please reduce the length of the messages or completion."],
  [
    "Mistral",
    "Prompt contains 40000 tokens and is too large for model with 32768 maximum context length",
  ],
  ["Together", "The input (9000 tokens) is longer than the model's context length (8192 tokens)."],
  ["LiteLLM", "litellm.ContextWindowExceededError: no"],
  ["vLLM", "This model exceeds the model's maximum context length of 4096"],
  ["SGLang", "Input length (9000) exceeds model's maximum context length (8192)."],
  ["llama.cpp", "the request exceeds the available context size. try increasing it"],
  [
    "LM Studio",
    "The number of tokens to keep from the initial prompt is greater than the context length",
  ],
  ["Ollama", "prompt too long; exceeded max context length by 12 tokens"],
  ["DashScope", "InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]"],
  ["Moonshot", "Invalid request: Your request exceeded model token limit: 8192 (requested: 9000)"],
  ["MiniMax", "invalid params, context window exceeds limit (2013)"],
  ["Z.AI", "Prompt exceeds max length"],
  ["Z.AI, shorter", "Prompt too long"],
  ["Copilot", "prompt token count of 70000 exceeds the limit of 64000"],
  ["Copilot, as 413", "prompt token count of 70000 exceeds the limit of 64000", 413],
  ["a proxy that takes it for its own failure", "maximum context length is 8192 tokens", 500],
];
const overflow = { code: "context_overflow", retryable: false } as const;
const throttling = [
  "ThrottlingException: Too many tokens, please wait before trying again.",
  "The input is too long for now, please wait.",
  "Rate limit of the context window",
  "Too many requests with a long context window",
];
const throttled = { code: "rate_limited", status: 429, retryable: true } as const;
const conversations: HttpCase[] = [
  ...overflows.map(([who, text, status = 400]) =>
    final(`Q243 overflow in the words of ${who}`, refused(status, {}, text), {
      ...overflow,
      status,
    }),
  ),
  final(
    "Q243 overflow as a code",
    http(400, asJson, '{"error":{"code":"context_length_exceeded","message":"No"}}'),
    {
      ...overflow,
      status: 400,
    },
  ),
  final(
    "Q243 overflow in a 200",
    http(
      200,
      asEvents,
      data({ error: { code: 400, message: "maximum context length is 8192 tokens" } }),
    ),
    { ...overflow, status: 400 },
  ),
  ...throttling.map((text): HttpCase => ({
    name: `Q243 throttling is not an overflow: ${text}`,
    answers: [refused(429, {}, text)],
    attempts: 3,
    waits: [250, 500],
    text: "",
    error: throttled,
  })),
];

export const statusCases: readonly HttpCase[] = [
  ...delays,
  ...verdicts,
  ...statuses,
  ...refusals,
  ...conversations,
];
