/** Section E: Anthropic Messages, errors and repeats (Q138 to Q146). */
import { fixtures, hello, osloText, runsOslo, truncated } from "../fixture.ts";
import {
  blockDelta,
  blockStart,
  blockStop,
  messageDelta,
  messageStart,
  messageStop,
  named,
  sse,
} from "../wire.ts";
import { inputDelta, textBlock, toolBlock, toolStart } from "../wire.ts";

const overloaded = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
const hel = [
  messageStart(),
  blockStart(0, { type: "text", text: "" }),
  blockDelta(0, { type: "text_delta", text: "Hel" }),
];
const tool = toolBlock(0, osloText);

export const messages = fixtures("anthropic-messages", [
  {
    id: "Q138",
    title: "pings anywhere",
    body: named(
      { type: "ping" },
      messageStart(),
      { type: "ping" },
      ...textBlock(0, "Hello."),
      { type: "ping" },
      messageDelta(),
      messageStop,
    ),
    expect: hello,
  },
  {
    id: "Q138",
    title: "only pings",
    body: named({ type: "ping" }, { type: "ping" }),
    expect: { ends: "error", errorCode: ["empty_response", "stream_truncated"], retryable: true },
  },
  {
    id: "Q139",
    title: "an error event after text",
    body: named(...hel, overloaded),
    expect: { ends: "error", text: "Hel", errorCode: ["overloaded"], retryable: true },
  },
  {
    id: "Q139",
    title: "an error event in the middle of a call",
    body: named(messageStart(), toolStart(0), inputDelta(0, osloText), overloaded),
    expect: { ends: "error", errorCode: ["overloaded"] },
  },
  {
    id: "Q139",
    title: "an error event after a whole call",
    body: named(messageStart(), ...tool, overloaded),
    expect: { ends: "error", errorCode: ["overloaded"] },
  },
  {
    id: "Q139",
    title: "a rate limit",
    body: named(...hel, {
      type: "error",
      error: { type: "rate_limit_error", message: "Slow down" },
    }),
    expect: { ends: "error", errorCode: ["rate_limited"], retryable: true },
  },
  {
    id: "Q139",
    title: "an api_error",
    body: named(...hel, { type: "error", error: { type: "api_error", message: "Oops" } }),
    expect: { ends: "error", errorCode: ["server_error"], retryable: true },
  },
  {
    id: "Q139",
    title: "an invalid request",
    body: named(...hel, { type: "error", error: { type: "invalid_request_error", message: "No" } }),
    expect: { ends: "error", errorCode: ["invalid_request"], retryable: false },
  },
  {
    id: "Q140",
    title: "an error as the first event",
    body: named(overloaded),
    expect: { ends: "error", errorCode: ["overloaded"], retryable: true },
  },
  {
    id: "Q141",
    title: "error data without an event name",
    body: `${named(...hel)}${sse(overloaded)}`,
    expect: { ends: "error", text: "Hel", errorCode: ["overloaded"], retryable: true },
  },
  {
    id: "Q142",
    title: "message_stop missing",
    body: named(messageStart(), ...textBlock(0, "Hello."), messageDelta()),
    expect: hello,
  },
  {
    id: "Q142",
    title: "message_stop missing after a call",
    body: named(messageStart(), ...tool, messageDelta("tool_use")),
    expect: runsOslo,
  },
  {
    id: "Q142",
    title: "no stop reason and no message_stop",
    body: named(messageStart(), ...textBlock(0, "Hello.")),
    expect: { ...truncated, text: "Hello." },
  },
  {
    id: "Q142",
    title: "no stop reason after a whole call",
    body: named(messageStart(), ...tool),
    expect: truncated,
  },
  {
    id: "Q142",
    title: "cut in the middle of a call",
    body: named(messageStart(), toolStart(0), inputDelta(0, '{"city":"Os')),
    expect: truncated,
  },
  {
    id: "Q142",
    title: "a reset in the middle of a call",
    body: named(messageStart(), toolStart(0), inputDelta(0, '{"city":"Os')),
    after: "reset",
    expect: { ends: "error", retryable: true },
  },
  {
    id: "Q143",
    title: "message_start repeated",
    body: named(
      messageStart(),
      messageStart(),
      messageStart(),
      ...textBlock(0, "Hello."),
      messageDelta(),
      messageStop,
    ),
    expect: hello,
  },
  {
    id: "Q143",
    title: "message_start repeated after text began",
    body: named(
      ...hel,
      messageStart(),
      blockDelta(0, { type: "text_delta", text: "lo." }),
      blockStop(0),
      messageDelta(),
      messageStop,
    ),
    expect: hello,
  },
  {
    id: "Q144",
    title: "a second message_start with another id",
    body: named(
      messageStart(),
      ...textBlock(0, "Hel"),
      messageStart({ id: "msg_2" }),
      ...textBlock(0, "Bye."),
      messageDelta(),
      messageStop,
    ),
    expect: { ends: "error", errorCode: ["stream_corrupt"], retryable: true },
  },
  {
    id: "Q144",
    title: "a second message_start with another id after a call",
    body: named(
      messageStart(),
      toolStart(0),
      inputDelta(0, '{"ci'),
      messageStart({ id: "msg_2" }),
      ...tool,
      messageDelta("tool_use"),
      messageStop,
    ),
    expect: { ends: "error", errorCode: ["stream_corrupt"], retryable: true },
  },
  {
    id: "Q145",
    title: "usage missing everywhere",
    body: named(
      messageStart({ usage: undefined }),
      ...textBlock(0, "Hello."),
      { ...messageDelta(), usage: undefined },
      messageStop,
    ),
    expect: { ...hello, usage: { input: undefined, output: undefined } },
  },
  {
    id: "Q145",
    title: "usage null everywhere",
    body: named(
      messageStart({ usage: null }),
      ...textBlock(0, "Hello."),
      { ...messageDelta(), usage: null },
      messageStop,
    ),
    expect: { ...hello, usage: { input: undefined, output: undefined } },
  },
  {
    id: "Q145",
    title: "usage missing beside a call",
    body: named(
      messageStart({ usage: undefined }),
      ...tool,
      { ...messageDelta("tool_use"), usage: undefined },
      messageStop,
    ),
    expect: runsOslo,
  },
  {
    id: "Q146",
    title: "usage in message_delta overwrites",
    body: named(
      messageStart({ usage: { input_tokens: 0, output_tokens: 1 } }),
      ...textBlock(0, "Hello."),
      messageDelta("end_turn", { input_tokens: 50, output_tokens: 7 }),
      messageStop,
    ),
    expect: { ...hello, usage: { input: 50, output: 7 } },
  },
  {
    id: "Q146",
    title: "usage in message_delta leaves what it does not name",
    body: named(
      messageStart({
        usage: {
          input_tokens: 10,
          cache_read_input_tokens: 5,
          cache_creation_input_tokens: 3,
          output_tokens: 1,
        },
      }),
      ...textBlock(0, "Hello."),
      messageDelta("end_turn", { output_tokens: 3 }),
      messageDelta("end_turn", { output_tokens: 7 }),
      messageStop,
    ),
    expect: { ...hello, usage: { input: 10, cacheRead: 5, cacheWrite: 3, output: 7 } },
  },
]);
