/**
 * Section P: calls of a chat answer that something in the stream contradicts, or that no known end
 * word says are complete. The notes name public reports of servers that answer so.
 */
import { done, fixtures, oslo, osloText, romeText, runsBoth, runsOslo } from "../fixture.ts";
import { begin, calls, chat, chatCalls, chunk, finish, say, sse } from "../wire.ts";

const name = "get_weather";
const [p1, p2] = ['{"city":', '"Oslo"}'] as const;
const whole = calls({ index: 0, id: "a", name, arguments: osloText });
const entry = (id: string, args: string): object => ({
  id,
  type: "function",
  function: { name, arguments: args },
});
/** The calls must not run, and the error tells the user why. */
const distrusted = { ends: "error", errorCode: ["stream_corrupt"], retryable: true } as const;
const unknownEnd = { ends: "error", errorCode: ["unexpected_response"] } as const;
const said = /Provider broke/;
const broke = { ends: "error", errorMessage: said } as const;
const choice = (index: number | undefined, delta: object, reason: unknown = null): object => ({
  ...(index !== undefined && { index }),
  delta,
  finish_reason: reason,
});
const callDelta = (id: string, args: string): object => ({
  role: "assistant",
  tool_calls: [{ index: 0, ...entry(id, args) }],
});
const json = JSON.stringify;

export const chatProof = fixtures("openai-chat", [
  {
    id: "P01",
    title: "a finished call repeated at the next index",
    body: chatCalls(
      calls({ index: 0, id: "a", name, arguments: p1 }),
      calls({ index: 0, arguments: p2 }),
      calls({ index: 1, id: "a", name, arguments: osloText }),
    ),
    expect: distrusted,
    note: "QuantumNous/new-api#6278. A client that runs the call once may be right, too.",
  },
  {
    id: "P01",
    title: "a call started again with the same id at the next index",
    body: chatCalls(
      calls({ index: 0, id: "a", name, arguments: "" }),
      calls({ index: 1, id: "a", name, arguments: osloText }),
    ),
    expect: distrusted,
    note: "mudler/LocalAI#9722. A client that runs only the second call may be right, too.",
  },
  {
    id: "P02",
    title: "whole arguments after their fragments, with the name",
    body: chatCalls(
      calls({ index: 0, id: "a", name, arguments: p1 }),
      calls({ index: 0, arguments: p2 }),
      calls({ index: 0, name, arguments: osloText }),
    ),
    expect: distrusted,
    note: "As in vllm-project/vllm#51697. A client that runs the call once may be right, too.",
  },
  {
    id: "P02",
    title: "whole arguments after their fragments, with the name and another id",
    body: chatCalls(
      calls({ index: 0, id: "a", name, arguments: p1 }),
      calls({ index: 0, arguments: p2 }),
      calls({ index: 0, id: "b", name, arguments: osloText }),
    ),
    expect: distrusted,
    note: "As in vllm-project/vllm#51697. A client that runs the call once may be right, too.",
  },
  {
    id: "P03",
    title: "equal calls with different ids and indexes",
    body: chatCalls(
      calls({ index: 0, id: "a", name, arguments: osloText }),
      calls({ index: 1, id: "b", name, arguments: osloText }),
    ),
    expect: { ...runsBoth, calls: [oslo, oslo] },
  },
  ...["cancelled", "guardrail_intervened", "refusal"].map((reason) => ({
    id: "P04",
    title: `the end ${reason} after a call`,
    body: chat(whole, finish(reason)),
    expect: { ends: "error" } as const,
    note: "watsonx.ai documents cancelled; langchain-ai/langchain-aws#937 reports guardrail_intervened.",
  })),
  ...["time_limit", "token_limit"].map((reason) => ({
    id: "P04",
    title: `the end ${reason} after a call`,
    body: chat(whole, finish(reason)),
    expect: { ...done, stopReason: "length" } as const,
    note: "watsonx.ai documents this finish reason.",
  })),
  {
    id: "P05",
    title: 'the end "null" as text on every chunk, and a clean close',
    body: sse(begin, chunk({ content: "Hel" }, "null"), chunk({ content: "lo" }, "null")),
    expect: { ends: "error", errorCode: ["stream_truncated"], text: "Hello" },
  },
  {
    id: "P05",
    title: "the end FINISH_REASON_UNSPECIFIED on every chunk of a call, and a clean close",
    body: sse(begin, {
      ...whole,
      choices: [choice(0, callDelta("a", osloText), "FINISH_REASON_UNSPECIFIED")],
    }),
    expect: { ends: "error", errorCode: ["stream_truncated"] },
  },
  {
    id: "P05",
    title: "the end not_finished on every chunk but the last",
    body: sse(
      begin,
      { ...whole, choices: [choice(0, callDelta("a", osloText), "not_finished")] },
      finish("eos_token"),
    ),
    expect: runsOslo,
  },
  {
    id: "P06",
    title: "content_filter after tool_calls",
    body: chat(whole, finish("tool_calls"), finish("content_filter")),
    expect: { ends: "error", errorCode: ["content_filtered"] },
  },
  {
    id: "P06",
    title: "an unknown end after tool_calls",
    body: chat(whole, finish("tool_calls"), finish("weird")),
    expect: unknownEnd,
  },
  {
    id: "P07",
    title: "a native finish reason that names a failure under stop",
    body: chat(
      say("Hel"),
      chunk({}, "stop", {
        choices: [{ ...choice(0, {}, "stop"), native_finish_reason: "network_error" }],
      }),
    ),
    expect: { ends: "error", text: "Hel", retryable: true, rawStopReason: "network_error" },
    note: "earendil-works/pi#8511.",
  },
  {
    id: "P07",
    title: "a native finish reason of another wire",
    body: chat(
      whole,
      chunk({}, "tool_calls", {
        choices: [{ ...choice(0, {}, "tool_calls"), native_finish_reason: "tool_use" }],
      }),
    ),
    expect: { ...runsOslo, rawStopReason: "tool_calls" },
  },
  {
    id: "P08",
    title: "text and each call in choices without an index",
    body: json({
      choices: [
        { finish_reason: "tool_calls", message: { role: "assistant", content: "Hello." } },
        {
          finish_reason: "tool_calls",
          message: { role: "assistant", tool_calls: [entry("a", osloText)] },
        },
        {
          finish_reason: "tool_calls",
          message: { role: "assistant", tool_calls: [entry("b", romeText)] },
        },
      ],
    }),
    headers: { "content-type": "application/json" },
    expect: { ...runsBoth, text: "Hello." },
    note: "BerriAI/litellm#24565 and #19506, karthink/gptel#1284: GitHub Copilot with Claude.",
  },
  {
    id: "P08",
    title: "text and a call in choices with different indexes",
    body: sse(
      chunk({}, null, { choices: [choice(0, { role: "assistant", content: "Hello." })] }),
      chunk({}, null, { choices: [choice(1, callDelta("a", p1))] }),
      chunk({}, null, {
        choices: [choice(1, { tool_calls: [{ index: 0, function: { arguments: p2 } }] })],
      }),
      chunk({}, null, { choices: [choice(0, {}, "tool_calls"), choice(1, {}, "tool_calls")] }),
      "[DONE]",
    ),
    expect: { ...runsOslo, text: "Hello." },
    note: "BerriAI/litellm#24565, streamed.",
  },
  {
    id: "P08",
    title: "a call in another choice than the one that ends with stop",
    body: sse(
      chunk({}, null, { choices: [choice(0, { role: "assistant", content: "Hello." }, "stop")] }),
      chunk({}, null, { choices: [choice(1, callDelta("a", osloText), "tool_calls")] }),
      "[DONE]",
    ),
    expect: { ...distrusted, text: "Hello." },
    note: "Nothing shows whether the call belongs to this answer or to another. Leaving it out is arguably right.",
  },
  {
    id: "P09",
    title: "an error in the choice",
    body: chat(whole, {
      ...chunk({}),
      choices: [{ ...choice(0, {}, "error"), error: { code: 502, message: "Provider broke" } }],
    }),
    expect: { ...broke, errorCode: ["server_error"], retryable: true },
  },
  ...[
    { error_code: 336_003, error_msg: "Provider broke" },
    { success: false, code: 500, msg: "Provider broke" },
    { status: "error", message: "Provider broke" },
    { type: "server_error", message: "Provider broke" },
  ].map((shape) => ({
    id: "P10",
    title: `an error of the shape ${Object.keys(shape).join(", ")}`,
    body: chat(whole, finish("tool_calls"), shape),
    expect: broke,
  })),
  {
    id: "P10",
    title: "a code of 0 beside usage does not count as an error",
    body: chat(whole, finish("tool_calls"), {
      code: 0,
      message: "",
      usage: { prompt_tokens: 10, completion_tokens: 7 },
    }),
    expect: { ...runsOslo, usage: { input: 10, output: 7 } },
  },
  {
    id: "P11",
    title: "a bare line of JSON that is an error, then [DONE]",
    body: `${sse(begin, whole)}${json({ error: { message: "Provider broke", code: 500 } })}\n\n${sse("[DONE]")}`,
    expect: { ...broke, retryable: true },
  },
  {
    id: "P11",
    title: "bare lines of JSON that are an error, on several lines",
    body: `${sse(begin, say("Hel"))}${json({ error: { message: "Provider broke" } }, null, 2)}\n\n${sse("[DONE]")}`,
    expect: { ...broke, text: "Hel" },
  },
  {
    id: "P11",
    title: "a bare line of text that reports a failure, then [DONE]",
    body: `${sse(begin, whole)}Internal Server Error: Provider broke\n\n${sse("[DONE]")}`,
    expect: broke,
  },
  {
    id: "P11",
    title: "a bare line of other text among the calls",
    body: `${sse(begin, whole)}Provider says so\n\n${sse(finish("tool_calls"), "[DONE]")}`,
    expect: distrusted,
  },
  {
    id: "P11",
    title: "a bare line of other text beside text",
    body: `${sse(begin, say("Hel"))}PROCESSING THE REQUEST\n\n${sse(say("lo."), finish(), "[DONE]")}`,
    expect: { ...done, text: "Hello.", stopReason: "stop" },
  },
  {
    id: "P11",
    title: "unknown fields among the calls",
    body: `${sse(begin, whole)}foo: bar\nfoo\n\n${sse(finish("tool_calls"), "[DONE]")}`,
    expect: runsOslo,
  },
  {
    id: "P11",
    title: "chunks and [DONE] without the name of their field",
    body: `${sse(begin)}${json(whole)}\n\n${json(finish("tool_calls"))}\n\n[DONE]\n\n`,
    expect: runsOslo,
  },
  {
    id: "P12",
    title: "an id of 19 digits that the model did not quote",
    body: chatCalls(calls({ index: 0, id: "a", name, arguments: '{"city":1234567890123456789}' })),
    expect: { ...done, calls: [{ name, arguments: { city: "1234567890123456789" } }] },
    note: "The tool expects a string. Running the call with a number is also right, if all digits are unchanged.",
  },
  {
    id: "P12",
    title: "an id of 19 digits in arguments that are an object",
    body: sse(
      begin,
      `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"${name}","arguments":{"city":1234567890123456789}}}]},"finish_reason":"tool_calls"}]}`,
      "[DONE]",
    ),
    expect: { ...done, calls: [{ name, arguments: { city: "1234567890123456789" } }] },
    note: "The tool expects a string. Running the call with a number is also right, if all digits are unchanged.",
  },
  {
    id: "P13",
    title: "the arguments null",
    body: chatCalls(calls({ index: 0, id: "a", name, arguments: "null" })),
    expect: { ...done, calls: [{ name, arguments: {} }] },
    note: "rivet-dev/agent-os#2042, for a tool without parameters.",
  },
  {
    id: "P14",
    title: "a name in pieces, the first of which is a tool, too",
    body: chatCalls(
      calls({ index: 0, id: "a", name: "get_weather", arguments: "" }),
      calls({ index: 0, name: "_map", arguments: "" }),
      calls({ index: 0, arguments: osloText }),
    ),
    tools: ["get_weather", "get_weather_map"],
    expect: { ...done, calls: [{ name: "get_weather_map", arguments: oslo.arguments }] },
  },
  {
    id: "P14",
    title: "the rest of a name after the arguments",
    body: chatCalls(
      calls({ index: 0, id: "a", name: "get_weather", arguments: p1 }),
      calls({ index: 0, name: "_map", arguments: p2 }),
    ),
    tools: ["get_weather", "get_weather_map"],
    expect: distrusted,
  },
  {
    id: "P15",
    title: "calls in a whole message after streamed text",
    body: chat(say("Hello."), {
      ...chunk({}),
      choices: [
        {
          index: 0,
          message: { role: "assistant", content: "Hello.", tool_calls: [entry("a", osloText)] },
          finish_reason: "tool_calls",
        },
      ],
    }),
    expect: { ...runsOslo, text: "Hello." },
  },
  {
    id: "P16",
    title: "thinking without an answer",
    body: chat(chunk({ reasoning_content: "hm" }), finish()),
    expect: { ends: "error", errorCode: ["empty_response"], retryable: true, thinking: "hm" },
  },
  {
    id: "P16",
    title: "thoughts, and tool_calls without a call",
    body: chat(chunk({ reasoning_content: "hm" }), finish("tool_calls")),
    expect: { ends: "error", errorCode: ["empty_response"], retryable: true },
  },
]);
