/** Section B: when a call is finished (Q056 to Q069). */
import {
  done,
  fixtures,
  oslo,
  osloText,
  rome,
  romeText,
  runsBoth,
  runsOslo,
  truncated,
} from "../fixture.ts";
import { begin, calls, chat, chatCalls, chunk, finish, say, sse } from "../wire.ts";

const name = "get_weather";
const one = (args: unknown): object => calls({ id: "a", name, arguments: args });
const more = (args: unknown): object => calls({ index: 0, arguments: args });
const whole = one(osloText);
const cut = one('{"city":"Os');
const refused = { ends: "done", refusedCalls: 1 } as const;

export const endings = fixtures("openai-chat", [
  {
    id: "Q056",
    title: "the call in the chunk of the finish reason",
    body: chat(
      chunk(
        {
          tool_calls: [
            { index: 0, id: "a", type: "function", function: { name, arguments: osloText } },
          ],
        },
        "tool_calls",
      ),
    ),
    expect: runsOslo,
  },
  {
    id: "Q056",
    title: "the last fragment in the chunk of the finish reason",
    body: chat(
      one('{"city":'),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '"Oslo"}' } }] }, "tool_calls"),
    ),
    expect: runsOslo,
  },
  {
    id: "Q057",
    title: "a call after the finish reason",
    body: chat(finish("tool_calls"), whole),
    expect: runsOslo,
  },
  {
    id: "Q057",
    title: "arguments after the finish reason",
    body: chat(one('{"city":'), finish("tool_calls"), more('"Oslo"}')),
    expect: runsOslo,
  },
  {
    id: "Q057",
    title: "text after the finish reason",
    body: chat(say("Hel"), finish("stop"), say("lo.")),
    expect: { ...done, text: "Hello." },
  },
  {
    id: "Q058",
    title: "stop although a call was sent",
    body: chat(whole, finish("stop")),
    expect: runsOslo,
  },
  {
    id: "Q058",
    title: "stop although two calls were sent",
    body: chat(whole, calls({ index: 1, id: "b", name, arguments: romeText }), finish("stop")),
    expect: runsBoth,
  },
  {
    id: "Q058",
    title: "stop in the middle of a call",
    body: chat(cut, finish("stop")),
    expect: refused,
  },
  {
    id: "Q059",
    title: "no finish reason, but [DONE]",
    body: chat(say("Hello.")),
    expect: { ...done, text: "Hello.", stopReason: "stop" },
  },
  {
    id: "Q059",
    title: "a call without a finish reason, but [DONE]",
    body: chat(whole),
    expect: runsOslo,
  },
  { id: "Q059", title: "neither, after a whole call", body: sse(begin, whole), expect: truncated },
  {
    id: "Q059",
    title: "neither, after text",
    body: sse(begin, say("Hello.")),
    expect: { ...truncated, text: "Hello." },
  },
  {
    id: "Q060",
    title: 'finish reason "" on every chunk',
    body: chat(chunk({ content: "Hel" }, ""), chunk({ content: "lo." }, ""), finish("stop")),
    expect: { ...done, text: "Hello." },
  },
  {
    id: "Q060",
    title: 'finish reason "" and no end',
    body: sse(begin, chunk({ content: "Hel" }, "")),
    expect: { ...truncated, text: "Hel" },
  },
  ...["eos", "eos_token", "end_turn", "STOP", "end", "stop_sequence", "COMPLETE"].map((reason) => ({
    id: "Q061",
    title: `the foreign reason ${reason}`,
    body: chat(say("Hello."), finish(reason)),
    expect: { ...done, text: "Hello.", stopReason: "stop", rawStopReason: reason } as const,
  })),
  ...["tool_use", "TOOL_CALLS", "eos"].map((reason) => ({
    id: "Q061",
    title: `the foreign reason ${reason} after a call`,
    body: chat(whole, finish(reason)),
    expect: { ...runsOslo, rawStopReason: reason },
  })),
  ...["max_tokens", "MAX_TOKENS"].map((reason) => ({
    id: "Q061",
    title: `the foreign reason ${reason}`,
    body: chat(say("Hel"), finish(reason)),
    expect: { ...done, text: "Hel", stopReason: "length" } as const,
  })),
  ...["network_error", "abort"].map((reason) => ({
    id: "Q061",
    title: `the foreign reason ${reason} after a call`,
    body: chat(whole, finish(reason)),
    expect: { ends: "error" } as const,
    note: "The catalogue lists this reason as foreign without its meaning; its wording suggests that the answer was cut off.",
  })),
  {
    id: "Q061",
    title: "the foreign reason sensitive",
    body: chat(say("Hel"), finish("sensitive")),
    expect: { ends: "error", text: "Hel", errorCode: ["content_filtered", "refusal"] },
    note: "The catalogue lists this reason as foreign without its meaning; its wording suggests that a filter stopped the answer.",
  },
  {
    id: "Q062",
    title: "a finish reason that is a number",
    body: chat(say("Hello."), finish(2)),
    expect: { ...done, text: "Hello.", rawStopReason: "2" },
  },
  {
    id: "Q062",
    title: "a finish reason that is a number, after a call",
    body: chat(whole, finish(2)),
    expect: { ends: "error", errorCode: ["unexpected_response"], rawStopReason: "2" },
  },
  {
    id: "Q063",
    title: "finish reason error after text",
    body: chat(say("Hel"), finish("error")),
    expect: { ends: "error", text: "Hel", retryable: true },
  },
  {
    id: "Q063",
    title: "finish reason error after a call",
    body: chat(whole, finish("error")),
    expect: { ends: "error", retryable: true },
  },
  {
    id: "Q064",
    title: "tool_calls, then stop",
    body: chat(whole, finish("tool_calls"), finish("stop")),
    expect: { ...runsOslo, rawStopReason: "tool_calls" },
  },
  {
    id: "Q064",
    title: "stop, then length",
    body: chat(say("Hel"), finish("stop"), finish("length")),
    expect: { ...done, text: "Hel", stopReason: "length" },
  },
  {
    id: "Q064",
    title: "tool_calls, then error",
    body: chat(whole, finish("tool_calls"), finish("error")),
    expect: { ends: "error" },
  },
  {
    id: "Q065",
    title: "tool_calls and no calls",
    body: chat(say("Hello."), finish("tool_calls")),
    expect: { ...done, text: "Hello.", stopReason: "stop" },
  },
  {
    id: "Q065",
    title: "tool_calls, no calls and no text",
    body: chat(finish("tool_calls")),
    expect: { ends: "error", errorCode: ["empty_response"] },
  },
  {
    id: "Q066",
    title: "length in the middle of a call",
    body: chat(cut, finish("length")),
    expect: { ...done, stopReason: "length" },
  },
  {
    id: "Q066",
    title: "length after a call that parses",
    body: chat(one("{}"), finish("length")),
    expect: { ...done, stopReason: "length" },
    note: "Nothing shows whether the call was complete; the catalogue's second rule says never to run a call of an answer cut by length.",
  },
  {
    id: "Q066",
    title: "length in the second of two calls",
    body: chat(whole, calls({ index: 1, id: "b", name, arguments: '{"ci' }), finish("length")),
    expect: { ...done, stopReason: "length" },
  },
  {
    id: "Q067",
    title: "a truncated call on a clean close",
    body: sse(begin, cut),
    expect: truncated,
  },
  {
    id: "Q067",
    title: "text and a truncated call on a clean close",
    body: sse(begin, say("Let me look."), cut),
    expect: { ...truncated, text: "Let me look." },
  },
  {
    id: "Q067",
    title: "a truncated call and a reset",
    body: sse(begin, cut),
    after: "reset",
    expect: { ends: "error", retryable: true },
  },
  {
    id: "Q068",
    title: "the legacy function_call",
    body: chat(
      chunk({ function_call: { name, arguments: "" } }),
      chunk({ function_call: { arguments: '{"city":' } }),
      chunk({ function_call: { arguments: '"Oslo"}' } }),
      finish("function_call"),
    ),
    expect: { ...runsOslo, uniqueIds: true },
  },
  {
    id: "Q068",
    title: "the legacy function_call, cut by length",
    body: chat(chunk({ function_call: { name, arguments: '{"ci' } }), finish("length")),
    expect: { ...done, stopReason: "length" },
  },
  {
    id: "Q069",
    title: "a call written as text stays text",
    body: chat(
      say('<tool_call>{"name":"get_weather",'),
      say('"arguments":{"city":"Oslo"}}</tool_call>'),
      finish(),
    ),
    expect: {
      ...done,
      text: '<tool_call>{"name":"get_weather","arguments":{"city":"Oslo"}}</tool_call>',
    },
    note: "The catalogue turns this off by default.",
  },
  {
    id: "Q054",
    title: "a broken call does not affect the other",
    body: chatCalls(cut, calls({ index: 1, id: "b", name, arguments: romeText })),
    expect: { ...done, calls: [rome], refusedCalls: 1 },
  },
  {
    id: "Q046",
    title: "an object for one call, text for the other",
    body: chatCalls(
      one({ city: "Oslo" }),
      calls({ index: 1, id: "b", name, arguments: '{"city":' }),
      calls({ index: 1, arguments: '"Rome"}' }),
    ),
    expect: { ...done, calls: [oslo, rome] },
  },
]);
