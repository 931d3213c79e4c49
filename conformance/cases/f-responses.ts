/** Section F: OpenAI Responses, how an answer ends (Q179 to Q185). */
import {
  done,
  fixtures,
  hello,
  osloText,
  romeText,
  runsBoth,
  runsOslo,
  truncated,
} from "../fixture.ts";
import {
  argumentsDelta,
  callEvents,
  callItem,
  completed,
  created,
  itemAdded,
  itemDone,
} from "../wire.ts";
import {
  messageItem,
  numbered,
  partAdded,
  responseOf,
  textDelta,
  textItem,
  responseUsage,
} from "../wire.ts";

const opened = itemAdded(0, messageItem("", { content: [], status: "in_progress" }));
const call = callItem(osloText);
const openCall = callItem("", { status: "in_progress" });
const failure = { code: "server_error", message: "Provider broke" };
const second = { id: "fc_2", call_id: "call_2" };
const ended = (
  type: string,
  more: Record<string, unknown>,
  output: unknown = [],
): Record<string, unknown> => ({
  type: `response.${type}`,
  response: responseOf(type, output, more),
});

const failed = { ends: "error", errorMessage: /Provider broke/ } as const;

export const responses = fixtures("openai-responses", [
  {
    id: "Q179",
    title: "a plain answer",
    body: numbered(created, ...textItem(0, "Hello."), completed([messageItem("Hello.")])),
    expect: { ...hello, usage: { input: 6, cacheRead: 4, output: 7, reasoning: 2 } },
  },
  {
    id: "Q179",
    title: "a plain call",
    body: numbered(created, ...callEvents(0, osloText), completed([call])),
    expect: { ...runsOslo, keeps: ["call_1"] },
  },
  {
    id: "Q179",
    title: "two calls",
    body: numbered(
      created,
      ...callEvents(0, osloText),
      ...callEvents(1, romeText, second),
      completed([call, callItem(romeText, second)]),
    ),
    expect: runsBoth,
  },
  {
    id: "Q179",
    title: "the end before completed, after text",
    body: numbered(created, ...textItem(0, "Hello.")),
    expect: { ...truncated, text: "Hello." },
  },
  {
    id: "Q179",
    title: "the end before completed, after a call",
    body: numbered(created, ...callEvents(0, osloText)),
    expect: truncated,
  },
  {
    id: "Q179",
    title: "[DONE] instead of completed",
    body: `${numbered(created, ...callEvents(0, osloText))}data: [DONE]\n\n`,
    expect: { ends: "error" },
    note: "The catalogue treats [DONE] as a no-op on this wire, and an end without completed as a truncation.",
  },
  {
    id: "Q179",
    title: "a reset before completed",
    body: numbered(created, ...callEvents(0, osloText)),
    after: "reset",
    expect: { ends: "error", retryable: true },
  },
  {
    id: "Q180",
    title: "a flat error event",
    body: numbered(created, opened, partAdded(0), textDelta(0, "Hel"), {
      type: "error",
      ...failure,
      param: null,
    }),
    expect: { ...failed, text: "Hel", retryable: true },
  },
  {
    id: "Q180",
    title: "a nested error event",
    body: numbered(created, opened, partAdded(0), textDelta(0, "Hel"), {
      type: "error",
      error: { type: "server_error", ...failure },
    }),
    expect: { ...failed, text: "Hel", retryable: true },
  },
  {
    id: "Q180",
    title: "an error event after a call",
    body: numbered(created, ...callEvents(0, osloText), { type: "error", ...failure }),
    expect: failed,
  },
  {
    id: "Q181",
    title: "response.failed",
    body: numbered(created, ended("failed", { error: failure })),
    expect: { ...failed, errorCode: ["server_error"], retryable: true },
  },
  {
    id: "Q181",
    title: "response.failed after a call",
    body: numbered(
      created,
      ...callEvents(0, osloText),
      ended("failed", { error: failure }, [call]),
    ),
    expect: { ...failed, retryable: true },
  },
  {
    id: "Q181",
    title: "response.failed by a rate limit",
    body: numbered(
      created,
      ended("failed", { error: { code: "rate_limit_exceeded", message: "Slow down" } }),
    ),
    expect: { ends: "error", errorCode: ["rate_limited"], retryable: true },
  },
  {
    id: "Q182",
    title: "incomplete by max_output_tokens",
    body: numbered(
      created,
      ...textItem(0, "Hel"),
      ended("incomplete", { incomplete_details: { reason: "max_output_tokens" } }, [
        messageItem("Hel", { status: "incomplete" }),
      ]),
    ),
    expect: { ...done, text: "Hel", stopReason: "length" },
  },
  {
    id: "Q182",
    title: "incomplete in the middle of a call",
    body: numbered(
      created,
      itemAdded(0, openCall),
      argumentsDelta(0, '{"city":"Os'),
      itemDone(0, callItem('{"city":"Os', { status: "incomplete" })),
      ended("incomplete", { incomplete_details: { reason: "max_output_tokens" } }),
    ),
    expect: { ...done, stopReason: "length" },
  },
  {
    id: "Q182",
    title: "a call of status incomplete that parses",
    body: numbered(
      created,
      itemAdded(0, openCall),
      itemDone(0, callItem("{}", { status: "incomplete" })),
      ended("incomplete", { incomplete_details: { reason: "max_output_tokens" } }),
    ),
    expect: { ...done, stopReason: "length" },
  },
  {
    id: "Q182",
    title: "incomplete by content_filter",
    body: numbered(
      created,
      ...textItem(0, "Hel"),
      ended("incomplete", { incomplete_details: { reason: "content_filter" } }),
    ),
    expect: { ends: "error", text: "Hel", errorCode: ["content_filtered"] },
  },
  {
    id: "Q183",
    title: "output empty in completed",
    body: numbered(created, ...textItem(0, "Hello."), completed([])),
    expect: hello,
  },
  {
    id: "Q183",
    title: "output null in completed, after a call",
    body: numbered(created, ...callEvents(0, osloText), completed(null)),
    expect: runsOslo,
  },
  {
    id: "Q184",
    title: "only completed carries the text",
    body: numbered(created, completed([messageItem("Hello.")])),
    expect: hello,
  },
  {
    id: "Q184",
    title: "only completed carries the call",
    body: numbered(created, completed([call])),
    expect: runsOslo,
  },
  {
    id: "Q184",
    title: "only completed, without created",
    body: numbered(completed([messageItem("Hello.")])),
    expect: hello,
  },
  {
    id: "Q185",
    title: "item.done alone, text",
    body: numbered(created, itemDone(0, messageItem("Hello.")), completed([messageItem("Hello.")])),
    expect: hello,
  },
  {
    id: "Q185",
    title: "item.done alone, a call",
    body: numbered(created, itemDone(0, call), completed([call])),
    expect: runsOslo,
  },
  {
    id: "Q185",
    title: "item.done alone, two calls and empty output",
    body: numbered(
      created,
      itemDone(0, call),
      itemDone(1, callItem(romeText, second)),
      completed([]),
    ),
    expect: runsBoth,
  },
  {
    id: "Q182",
    title: "two calls, the second cut",
    body: numbered(
      created,
      ...callEvents(0, osloText),
      itemAdded(1, { ...openCall, ...second }),
      argumentsDelta(1, '{"ci', "fc_2"),
      ended("incomplete", { incomplete_details: { reason: "max_output_tokens" } }),
    ),
    expect: { ...done, stopReason: "length" },
  },
  {
    id: "Q179",
    title: "usage with more cached than input",
    body: numbered(
      created,
      ...textItem(0, "Hello."),
      completed([messageItem("Hello.")], { usage: { ...responseUsage, input_tokens: 3 } }),
    ),
    expect: hello,
  },
]);
