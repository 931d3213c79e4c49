/** Section C: errors inside a stream that began well (Q100 to Q104). */
import { fixtures, osloText } from "../fixture.ts";
import { begin, calls, chunk, finish, named, say, sse } from "../wire.ts";

const whole = calls({ index: 0, id: "a", name: "get_weather", arguments: osloText });
const said = /Provider broke/;
const failed = { ends: "error", errorMessage: said } as const;
const shapes: readonly (readonly [string, unknown])[] = [
  [
    "of vLLM and SGLang",
    { object: "error", message: "Provider broke", type: "BadRequestError", code: 400 },
  ],
  ["of FastAPI, as text", { detail: "Provider broke" }],
  [
    "of FastAPI, as a list",
    { detail: [{ loc: ["body"], msg: "Provider broke", type: "value_error" }] },
  ],
  ["with error as text", { error: "Provider broke" }],
  [
    "as Google's array",
    [{ error: { code: 503, message: "Provider broke", status: "UNAVAILABLE" } }],
  ],
  ["of Azure", { statusCode: 500, message: "Provider broke" }],
  ["as a list of errors", { errors: [{ message: "Provider broke" }] }],
  ["with a code and nothing said", { error: { code: "internal" } }],
];

export const errors = [
  ...fixtures("openai-chat", [
    {
      id: "Q100",
      title: "an error beside choices",
      body: sse(
        begin,
        say("Hel"),
        { ...chunk({ content: "" }, "error"), error: { message: "Provider broke", code: 502 } },
        "[DONE]",
      ),
      expect: { ...failed, text: "Hel", retryable: true, errorCode: ["server_error"] },
    },
    {
      id: "Q100",
      title: "an error after a call",
      body: sse(begin, whole, { error: { message: "Provider broke", code: 502 } }, "[DONE]"),
      expect: { ...failed, retryable: true },
    },
    {
      id: "Q100",
      title: "an error after the finish reason of a call",
      body: sse(
        begin,
        whole,
        finish("tool_calls"),
        { error: { message: "Provider broke", code: 502 } },
        "[DONE]",
      ),
      expect: failed,
    },
    {
      id: "Q100",
      title: "an error of status 429",
      body: sse(begin, say("Hel"), { error: { message: "Provider broke", code: 429 } }),
      expect: { ...failed, text: "Hel", errorCode: ["rate_limited"], retryable: true },
    },
    {
      id: "Q100",
      title: "error null does not count as an error",
      body: sse(begin, { ...say("Hello."), error: null }, finish(), "[DONE]"),
      expect: { ends: "done", text: "Hello." },
      note: "Not in the catalogue. It is the reverse of the rule that an error field takes precedence.",
    },
    {
      id: "Q101",
      title: "event: error with an error object",
      body: `${sse(begin, say("Hel"))}event: error\n${sse({ error: { message: "Provider broke", code: "tool_use_failed" } })}`,
      expect: { ...failed, text: "Hel" },
    },
    {
      id: "Q101",
      title: "event: error with another shape",
      body: `${sse(begin, say("Hel"))}event: error\n${sse({ reason: "Provider broke" })}`,
      expect: { ...failed, text: "Hel" },
    },
    {
      id: "Q101",
      title: "event: error with plain text",
      body: `${sse(begin, say("Hel"))}event: error\n${sse("Provider broke")}`,
      expect: { ...failed, text: "Hel" },
    },
    {
      id: "Q101",
      title: "event: error after the finish reason of a call",
      body: `${sse(begin, whole, finish("tool_calls"))}event: error\n${sse({ message: "Provider broke" }, "[DONE]")}`,
      expect: failed,
    },
    ...shapes.map(([title, shape], index) => ({
      id: "Q102",
      title: `the error ${title}, in the middle`,
      body: sse(begin, say("Hel"), shape, "[DONE]"),
      expect: {
        ends: "error",
        text: "Hel",
        errorMessage: index === shapes.length - 1 ? /internal/ : said,
      } as const,
    })),
    ...shapes.slice(0, 2).map(([title, shape]) => ({
      id: "Q102",
      title: `the error ${title}, after a call`,
      body: sse(begin, whole, shape, "[DONE]"),
      expect: failed,
    })),
    {
      id: "Q103",
      title: "an error as the first event",
      body: sse({ error: { message: "Provider broke", code: 503 } }),
      expect: { ...failed, retryable: true },
    },
    {
      id: "Q103",
      title: "a final error as the first event",
      body: sse({ error: { message: "Provider broke", code: 401 } }),
      expect: { ...failed, errorCode: ["authentication_failed"], retryable: false },
    },
    {
      id: "Q104",
      title: "the model rejects its own call",
      body: `event: error\n${sse({ error: { message: "Failed to call a function. See failed_generation.", type: "invalid_request_error", code: "tool_use_failed", failed_generation: "<function=get_weather>{}", status_code: 400 } })}`,
      expect: { ends: "error", errorMessage: /Failed to call a function/, retryable: true },
      note: "The catalogue asks to retry once or twice, or to recover the text.",
    },
  ]),
  ...fixtures("anthropic-messages", [
    {
      id: "Q103",
      title: "an error as the first event",
      body: named({
        type: "error",
        error: { type: "overloaded_error", message: "Provider broke" },
      }),
      expect: { ...failed, errorCode: ["overloaded"], retryable: true },
    },
  ]),
];
