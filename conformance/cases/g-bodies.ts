/** Section G: Google generateContent, bodies, errors and usage (Q210 to Q219). */
import {
  done,
  fixtures,
  hello,
  oslo,
  osloText,
  runsOslo,
  truncated,
  type Expectation,
} from "../fixture.ts";
import { functionCall, google, googleUsage, parts } from "../wire.ts";

const call = functionCall(oslo.arguments);
const text = { text: "Hello." };
const unavailable = {
  error: { code: 503, message: "The model is overloaded.", status: "UNAVAILABLE" },
};
const asJson = { "content-type": "application/json; charset=UTF-8" };
const exhausted = (message: string, details: object[] = []): string =>
  JSON.stringify({ error: { code: 429, message, status: "RESOURCE_EXHAUSTED", details } });
const retryInfo = { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "13s" };
const limited: Expectation = { ends: "error", errorCode: ["rate_limited"], retryable: true };

export const googleBodies = fixtures("google-generate", [
  {
    id: "Q210",
    title: "candidates empty, then text",
    body: google({ candidates: [], usageMetadata: googleUsage }, parts([text]), {
      candidates: [{ content: { role: "model" }, finishReason: "STOP", index: 0 }],
    }),
    expect: hello,
  },
  {
    id: "Q210",
    title: "parts missing, then text",
    body: google(
      { candidates: [{ content: {}, index: 0 }] },
      { candidates: [{ index: 0 }] },
      { candidates: [{ content: null, index: 0 }] },
      parts([text], "STOP"),
    ),
    expect: hello,
  },
  {
    id: "Q210",
    title: "STOP without any content",
    body: google({
      candidates: [{ content: { role: "model" }, finishReason: "STOP", index: 0 }],
      usageMetadata: googleUsage,
    }),
    expect: { ends: "error", errorCode: ["empty_response"] },
  },
  {
    id: "Q210",
    title: "only empty candidates",
    body: google({ candidates: [] }),
    expect: { ends: "error" },
  },
  {
    id: "Q211",
    title: "the reason on every chunk",
    body: google(parts([{ text: "Hel" }], "STOP"), parts([{ text: "lo." }], "STOP")),
    expect: hello,
  },
  {
    id: "Q211",
    title: "the reason on every chunk, with a call last",
    body: google(parts([text], "STOP"), parts([call], "STOP")),
    expect: runsOslo,
  },
  {
    id: "Q211",
    title: "the last reason wins",
    body: google(parts([{ text: "Hel" }], "STOP"), parts([{ text: "lo" }], "MAX_TOKENS")),
    expect: { ...done, text: "Hello", stopReason: "length" },
  },
  {
    id: "Q211",
    title: "no finish reason",
    body: google(parts([{ text: "Hel" }])),
    expect: { ...truncated, text: "Hel" },
  },
  {
    id: "Q211",
    title: "no finish reason, after a call",
    body: google(parts([call])),
    expect: truncated,
  },
  {
    id: "Q211",
    title: "a reset after a call",
    body: google(parts([call])),
    after: "reset",
    expect: { ends: "error", retryable: true },
  },
  {
    id: "Q212",
    title: "a JSON array instead of events",
    body: `[${JSON.stringify(parts([{ text: "Hel" }]))},\r\n${JSON.stringify(parts([{ text: "lo." }], "STOP"))}]`,
    headers: asJson,
    expect: hello,
  },
  {
    id: "Q212",
    title: "a pretty-printed JSON array with a call",
    body: JSON.stringify([parts([call]), parts([], "STOP")], null, 2),
    headers: asJson,
    expect: runsOslo,
  },
  {
    id: "Q212",
    title: "a JSON array that is cut",
    body: `[${JSON.stringify(parts([call]))},\n`,
    headers: asJson,
    expect: { ends: "error" },
  },
  {
    id: "Q212",
    title: "a JSON array with an error",
    body: JSON.stringify([unavailable]),
    headers: asJson,
    expect: { ends: "error", errorMessage: /overloaded/, retryable: true },
  },
  {
    id: "Q213",
    title: "an error in the stream",
    body: google(parts([{ text: "Hel" }]), unavailable),
    expect: { ends: "error", text: "Hel", errorMessage: /overloaded/, retryable: true },
  },
  {
    id: "Q213",
    title: "an error after a call",
    body: google(parts([call]), unavailable),
    expect: { ends: "error", errorMessage: /overloaded/ },
  },
  {
    id: "Q213",
    title: "an error array in a data line",
    body: google(parts([{ text: "Hel" }]), [unavailable]),
    expect: { ends: "error", text: "Hel", errorMessage: /overloaded/, retryable: true },
  },
  {
    id: "Q214",
    title: "a wrapped response",
    body: google(
      { response: parts([{ text: "Hel" }]) },
      { response: parts([{ text: "lo." }], "STOP") },
    ),
    expect: hello,
  },
  {
    id: "Q214",
    title: "a wrapped call",
    body: google({ response: parts([call], "STOP"), traceId: "t" }),
    expect: runsOslo,
  },
  {
    id: "Q215",
    title: "snake_case fields",
    body: google({
      candidates: [
        {
          content: {
            role: "model",
            parts: [
              {
                function_call: { name: "get_weather", args: oslo.arguments },
                thought_signature: "c2ln",
              },
            ],
          },
          finish_reason: "STOP",
        },
      ],
      usage_metadata: { prompt_token_count: 10, candidates_token_count: 7 },
    }),
    expect: { ...runsOslo, usage: { input: 10, output: 7 }, keeps: ["c2ln"] },
  },
  {
    id: "Q216",
    title: "a delay in the details",
    status: 429,
    headers: asJson,
    body: exhausted("Resource has been exhausted.", [retryInfo]),
    expect: { ...limited, retryAfterMs: 13_000 },
  },
  {
    id: "Q216",
    title: "a delay in the text",
    status: 429,
    headers: asJson,
    body: exhausted("Please retry in 13.5s."),
    expect: { ...limited, retryAfterMs: 13_500 },
  },
  {
    id: "Q216",
    title: "a daily quota",
    status: 429,
    headers: asJson,
    body: exhausted("You exceeded your current quota.", [
      {
        "@type": "type.googleapis.com/google.rpc.QuotaFailure",
        violations: [{ quotaId: "GenerateRequestsPerDayPerProjectPerModel-FreeTier" }],
      },
      retryInfo,
    ]),
    expect: { ends: "error", errorCode: ["quota_exceeded"], retryable: false },
  },
  {
    id: "Q218",
    title: "thoughts outside candidates",
    body: google(
      parts([text], "STOP", {
        usageMetadata: {
          promptTokenCount: 10,
          candidatesTokenCount: 7,
          thoughtsTokenCount: 5,
          totalTokenCount: 22,
        },
      }),
    ),
    expect: { ...hello, usage: { input: 10, output: 12, reasoning: 5, totalTokens: 22 } },
  },
  {
    id: "Q218",
    title: "only thoughts counted",
    body: google(
      parts([text], "STOP", { usageMetadata: { promptTokenCount: 10, thoughtsTokenCount: 5 } }),
    ),
    expect: { ...hello, usage: { input: 10, output: 5 } },
  },
  {
    id: "Q219",
    title: "MAX_TOKENS with thoughts only",
    body: google(parts([{ text: "hm", thought: true }]), parts([], "MAX_TOKENS")),
    expect: { ...done, text: "", thinking: "hm", stopReason: "length" },
  },
  {
    id: "Q219",
    title: "MAX_TOKENS after a call",
    body: google(parts([call], "MAX_TOKENS")),
    expect: { ...done, stopReason: "length" },
    note: "Nothing shows whether the call was complete; the catalogue's second rule says never to run a call of an answer cut by length.",
  },
  {
    id: "Q202",
    title: "args as text",
    body: google(parts([{ functionCall: { name: "get_weather", args: osloText } }], "STOP")),
    expect: { ends: "any", calls: [oslo] },
    note: "Not in the catalogue for this wire; it is the reverse of Q046.",
  },
]);
