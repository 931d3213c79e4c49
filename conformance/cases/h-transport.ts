/** Section H: statuses and headers (Q220 to Q229). */
import { fixtures, type Expectation, type Fixture } from "../fixture.ts";

const asJson = { "content-type": "application/json" };
const error = (text: string, more: object = {}): string =>
  JSON.stringify({ error: { message: text, ...more } });
const limited: Expectation = { ends: "error", errorCode: ["rate_limited"], retryable: true };
const tooMany = (
  id: string,
  title: string,
  headers: Record<string, string>,
  expect: Expectation,
  text = "Slow down.",
): Omit<Fixture, "protocol"> => ({
  id,
  title,
  status: 429,
  headers: { ...asJson, ...headers },
  body: error(text),
  expect,
});

export const transport = [
  ...fixtures("openai-chat", [
    tooMany(
      "Q220",
      "retry-after in seconds",
      { "retry-after": "20" },
      { ...limited, retryAfterMs: 20_000 },
    ),
    tooMany(
      "Q220",
      "retry-after above the cap is passed on",
      { "retry-after": "120" },
      { ...limited, retryAfterMs: 120_000 },
    ),
    tooMany(
      "Q220",
      "retry-after in the past",
      { "retry-after": "Sat, 21 Nov 2020 10:00:00 GMT" },
      { ...limited, retryAfterMs: null },
    ),
    tooMany(
      "Q220",
      "retry-after negative",
      { "retry-after": "-1" },
      { ...limited, retryAfterMs: null },
    ),
    tooMany(
      "Q220",
      "retry-after in words",
      { "retry-after": "soon" },
      { ...limited, retryAfterMs: null },
    ),
    tooMany(
      "Q221",
      "retry-after-ms before retry-after",
      { "retry-after": "20", "retry-after-ms": "100" },
      { ...limited, retryAfterMs: 100 },
    ),
    tooMany(
      "Q222",
      "a reset in seconds",
      { "x-ratelimit-reset-requests": "6s" },
      { ...limited, retryAfterMs: 6000 },
    ),
    tooMany(
      "Q222",
      "a reset in minutes and seconds",
      { "x-ratelimit-reset-tokens": "1m26.4s" },
      { ...limited, retryAfterMs: 86_400 },
    ),
    tooMany(
      "Q222",
      "a reset in milliseconds",
      { "x-ratelimit-reset-tokens": "120ms" },
      { ...limited, retryAfterMs: 120 },
    ),
    tooMany(
      "Q222",
      "x-ratelimit-reset-after",
      { "x-ratelimit-reset-after": "7" },
      { ...limited, retryAfterMs: 7000 },
    ),
    tooMany(
      "Q223",
      "a delay in the message",
      {},
      { ...limited, retryAfterMs: 360_000 },
      "Rate limit reached. Please try again in 6m0s.",
    ),
    tooMany(
      "Q223",
      "a short delay in the message",
      {},
      { ...limited, retryAfterMs: 1500 },
      "Please try again in 1.5s.",
    ),
    tooMany(
      "Q224",
      "x-should-retry false on 429",
      { "x-should-retry": "false" },
      { ends: "error", retryable: false },
    ),
    {
      id: "Q224",
      title: "x-should-retry true on 400",
      status: 400,
      headers: { ...asJson, "x-should-retry": "true" },
      body: error("Try me."),
      expect: { ends: "error", retryable: true },
    },
    {
      id: "Q225",
      title: "insufficient_quota",
      status: 429,
      headers: asJson,
      body: error("You have run out.", { code: "insufficient_quota" }),
      expect: { ends: "error", errorCode: ["quota_exceeded"], retryable: false },
    },
    tooMany(
      "Q225",
      "a daily limit",
      {},
      { ends: "error", errorCode: ["quota_exceeded"], retryable: false },
      "You have reached your daily limit.",
    ),
    {
      id: "Q225",
      title: "status 402",
      status: 402,
      headers: asJson,
      body: error("Insufficient credits."),
      expect: { ends: "error", errorCode: ["quota_exceeded"], retryable: false },
    },
    {
      id: "Q225",
      title: "Z.AI's code 1308",
      status: 429,
      headers: asJson,
      body: JSON.stringify({
        error: {
          code: "1308",
          message: "Usage limit reached for 5 hour. Your limit will reset at 2026-11-21 10:00:00",
        },
      }),
      expect: { ends: "error", errorCode: ["quota_exceeded"], retryable: false },
    },
    ...[408, 409, 425, 500, 502, 503, 504, 520, 524, 529].map((status) => ({
      id: "Q226",
      title: `status ${status}`,
      status,
      headers: asJson,
      body: error("Provider broke"),
      expect: { ends: "error", retryable: true, errorMessage: /Provider broke/ } as const,
    })),
    ...[400, 401, 403, 404, 413, 422].map((status) => ({
      id: "Q226",
      title: `status ${status}`,
      status,
      headers: asJson,
      body: error("Provider broke"),
      expect: { ends: "error", retryable: false, errorMessage: /Provider broke/ } as const,
    })),
    {
      id: "Q226",
      title: "a page with status 502",
      status: 502,
      headers: { "content-type": "text/html" },
      body: "<html><head><title>502 Bad Gateway</title></head></html>",
      expect: {
        ends: "error",
        errorCode: ["server_error"],
        errorMessage: /Bad Gateway/,
        retryable: true,
      },
    },
    ...[301, 302, 303].map((status) => ({
      id: "Q229",
      title: `a redirect with ${status}`,
      status,
      headers: { location: "/elsewhere" },
      body: "",
      expect: { ends: "error", errorMessage: /elsewhere/, retryable: false } as const,
    })),
    ...[307, 308].map((status) => ({
      id: "Q229",
      title: `a redirect with ${status} to another origin`,
      status,
      headers: { location: "http://127.0.0.1:9/v2" },
      body: "",
      expect: { ends: "error", errorMessage: /127\.0\.0\.1:9\/v2/, retryable: false } as const,
    })),
    {
      id: "Q229",
      title: "a redirect with 307 to itself",
      status: 307,
      headers: { location: "?again" },
      body: "",
      expect: { ends: "error", errorMessage: /again/, retryable: false },
    },
  ]),
];
