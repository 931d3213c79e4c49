/**
 * Section H: resets, odd and cut JSON bodies, and conversations that are too long (Q231 to Q244).
 */
import {
  fixtures,
  hello,
  osloText,
  runsOslo,
  truncated,
  type Expectation,
  type Fixture,
} from "../fixture.ts";
import {
  begin,
  calls,
  chat,
  chatHello,
  created,
  finish,
  google,
  message,
  messageDelta,
  messageItem,
  messageStart,
  messageStop,
  named,
  numbered,
  parts,
  responseOf,
  say,
  sse,
  textBlock,
} from "../wire.ts";

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
const whole = (more = ""): string =>
  `{"id":"chatcmpl-1","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"Hello."},"finish_reason":"stop"}]}${more}`;

const overflows = [
  [
    400,
    error(
      "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.",
      {
        code: "context_length_exceeded",
      },
    ),
  ],
  [400, error("Input length (9000) exceeds model's maximum context length (8192).")],
  [
    400,
    error(
      "the request exceeds the available context size. try increasing the context size or enable context shift",
      {
        type: "exceed_context_size_error",
      },
    ),
  ],
  [400, error("The maximum prompt length is 131072 but the request contains 140000 tokens.")],
  [400, error("Please reduce the length of the messages or completion.")],
  [
    400,
    error(
      "Prompt contains 40000 tokens and is too large for model with 32768 maximum context length",
    ),
  ],
  [400, error("The input (9000 tokens) is longer than the model's context length (8192 tokens).")],
  [400, error("litellm.ContextWindowExceededError: too long")],
  [
    400,
    error(
      "The number of tokens to keep from the initial prompt is greater than the context length",
    ),
  ],
  [
    400,
    error("<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]"),
  ],
  [400, error("Invalid request: Your request exceeded model token limit: 8192 (requested: 9000)")],
  [400, error("invalid params, context window exceeds limit (2013)")],
  [400, JSON.stringify({ error: { code: "1261", message: "Prompt exceeds max length" } })],
  [400, error("prompt token count of 70000 exceeds the limit of 64000")],
  [400, error("prompt too long; exceeded max context length by 12 tokens")],
  [400, error("maximum allowed input length is 8192")],
] as const;

/** A whole answer, cut before its end. */
const cut = (body: string): Omit<Fixture, "protocol"> => ({
  id: "Q233",
  title: "a whole answer that is cut",
  body: body.slice(0, -6),
  headers: asJson,
  expect: truncated,
});
/** An empty answer that a limit cut before the first token. */
const noRoom = (body: string): Omit<Fixture, "protocol"> => ({
  id: "Q244",
  title: "length and not a token",
  body,
  // A client that reports the limit as its stop reason shows that something is missing, but not
  // what.
  expect: { ends: "any", errorCode: ["context_overflow"], retryable: false },
});
export const transportBodies = [
  ...fixtures("openai-chat", [
    cut(whole()),
    noRoom(chat(finish("length", { usage: { prompt_tokens: 8192, completion_tokens: 0 } }))),
    {
      id: "Q242",
      title: "a refusal that does not end",
      status: 400,
      headers: asJson,
      body: `Not so. ${"x".repeat(200_000)}`,
      after: "hold",
      expect: { ends: "error", errorMessage: /Not so/, retryable: false },
    },
    {
      id: "Q231",
      title: "a reset after the headers",
      body: ": ping\n\n",
      after: "reset",
      expect: {
        ends: "error",
        errorCode: ["connection_failed", "stream_truncated"],
        retryable: true,
      },
    },
    {
      id: "Q232",
      title: "a reset in mid stream",
      body: sse(begin, say("Hel")),
      after: "reset",
      expect: {
        ends: "error",
        text: "Hel",
        errorCode: ["connection_failed", "stream_truncated"],
        retryable: true,
      },
    },
    {
      id: "Q232",
      title: "a reset after a whole call",
      body: sse(begin, calls({ id: "a", name: "get_weather", arguments: osloText })),
      after: "reset",
      expect: { ends: "error", retryable: true },
    },
    {
      id: "Q233",
      title: "fewer bytes than announced",
      body: sse(begin, say("Hel")),
      headers: { "content-type": "text/event-stream", "content-length": "5000" },
      after: "reset",
      expect: { ends: "error", text: "Hel", retryable: true },
    },
    {
      id: "Q232",
      title: "a reset after [DONE]",
      body: chatHello,
      after: "reset",
      expect: hello,
      note: "Q016 says that an answer needs no more bytes after [DONE].",
    },
    {
      id: "Q238",
      title: "blank lines before JSON",
      body: `\n\n\n${whole()}`,
      headers: asJson,
      expect: hello,
    },
    {
      id: "Q238",
      title: "blank lines before events",
      body: `\n\n\n${chat(calls({ id: "a", name: "get_weather", arguments: osloText }), finish("tool_calls"))}`,
      expect: runsOslo,
    },
    {
      id: "Q239",
      title: "[DONE] after JSON",
      body: whole("\n[DONE]"),
      headers: asJson,
      expect: hello,
    },
    {
      id: "Q239",
      title: "a [DONE] event after JSON",
      body: whole("\n\ndata: [DONE]\n\n"),
      headers: asJson,
      expect: hello,
      note: "The catalogue lists white space and [DONE] after JSON; here [DONE] is an event.",
    },
    {
      id: "Q239",
      title: "white space after JSON",
      body: whole("\n \n"),
      headers: asJson,
      expect: hello,
    },
    {
      id: "Q241",
      title: "choices null",
      body: '{"choices":null}',
      headers: asJson,
      expect: { ends: "error", errorMessage: /choices/ },
    },
    {
      id: "Q241",
      title: "another shape",
      body: '{"result":"ok"}',
      headers: asJson,
      expect: { ends: "error", errorMessage: /result/ },
    },
    {
      id: "Q242",
      title: "400 without a body",
      status: 400,
      headers: {},
      body: "",
      expect: { ends: "error", errorMessage: /400/, retryable: false },
    },
    {
      id: "Q242",
      title: "422 without a body",
      status: 422,
      headers: {},
      body: "",
      expect: { ends: "error", errorMessage: /422/, retryable: false },
    },
    ...overflows.map(([status, body], index) => ({
      id: "Q243",
      title: `overflow text ${index + 1}`,
      status,
      headers: asJson,
      body,
      expect: { ends: "error", errorCode: ["context_overflow"], retryable: false } as const,
    })),
    tooMany(
      "Q243",
      "throttling is no overflow",
      {},
      limited,
      "ThrottlingException: Too many tokens, please wait before trying again.",
    ),
    tooMany(
      "Q243",
      "a rate limit on tokens is no overflow",
      {},
      limited,
      "Rate limit reached: the maximum context length of your tier is counted per minute.",
    ),
  ]),
  ...fixtures("anthropic-messages", [
    cut(
      '{"type":"message","role":"assistant","content":[{"type":"text","text":"Hello."}],"stop_reason":"end_turn"}',
    ),
    noRoom(named(messageStart(), messageDelta("max_tokens", { output_tokens: 0 }), messageStop)),
    {
      id: "Q227",
      title: "529 overloaded",
      status: 529,
      headers: asJson,
      body: '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
      expect: { ends: "error", errorCode: ["overloaded"], retryable: true },
    },
    {
      id: "Q232",
      title: "a reset after message_stop",
      body: message("end_turn", ...textBlock(0, "Hello.")),
      after: "reset",
      expect: hello,
      note: "The rule of Q016, applied to this wire.",
    },
    {
      id: "Q229",
      title: "a redirect with 302",
      status: 302,
      headers: { location: "/elsewhere" },
      body: "",
      expect: { ends: "error", errorMessage: /elsewhere/ },
    },
    {
      id: "Q243",
      title: "prompt is too long",
      status: 400,
      headers: asJson,
      body: '{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}',
      expect: { ends: "error", errorCode: ["context_overflow"], retryable: false },
    },
    {
      id: "Q178",
      title: "413 request_too_large",
      status: 413,
      headers: asJson,
      body: '{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}',
      expect: {
        ends: "error",
        errorCode: ["request_too_large", "context_overflow"],
        retryable: false,
      },
    },
  ]),
  ...fixtures("openai-responses", [
    cut(JSON.stringify(responseOf("completed", [messageItem("Hello.")]))),
    noRoom(
      numbered(created, {
        type: "response.incomplete",
        response: responseOf("incomplete", [], {
          incomplete_details: { reason: "max_output_tokens" },
          usage: { input_tokens: 8192, output_tokens: 0, total_tokens: 8192 },
        }),
      }),
    ),
  ]),
  ...fixtures("google-generate", [
    cut(JSON.stringify([parts([{ text: "Hello." }], "STOP")])),
    noRoom(
      google(
        parts([], "MAX_TOKENS", {
          usageMetadata: { promptTokenCount: 8192, candidatesTokenCount: 0 },
        }),
      ),
    ),
    {
      id: "Q243",
      title: "too many input tokens",
      status: 400,
      headers: asJson,
      body: '{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}',
      expect: { ends: "error", errorCode: ["context_overflow"], retryable: false },
    },
  ]),
];
