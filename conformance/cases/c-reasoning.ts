/** Section C: reasoning, endings and usage (Q082 to Q099). */
import { done, fixtures, hello, osloText, runsOslo } from "../fixture.ts";
import { begin, calls, chat, chatCalls, chunk, finish, say, sse } from "../wire.ts";

const name = "get_weather";
const whole = calls({ index: 0, id: "a", name, arguments: osloText });
const delta = (fields: object): object => chunk(fields);
const thinks = { ...done, text: "Hi", thinking: "hm" } as const;
const usage = { prompt_tokens: 10, completion_tokens: 7, total_tokens: 17 };
const counted = { ...hello, usage: { input: 10, output: 7, totalTokens: 17 } };
const raw = (event: object): object => ({
  id: "chatcmpl-1",
  object: "chat.completion.chunk",
  created: 1,
  model: "m",
  ...event,
});

export const reasoning = fixtures("openai-chat", [
  {
    id: "Q081",
    title: "a message that repeats what was streamed",
    body: chat(
      say("Hello."),
      raw({
        choices: [
          { index: 0, message: { role: "assistant", content: "Hello." }, finish_reason: "stop" },
        ],
      }),
    ),
    expect: hello,
  },
  ...["reasoning_content", "reasoning", "reasoning_text", "thinking"].map((field) => ({
    id: "Q082",
    title: `reasoning in ${field}`,
    body: chat(delta({ [field]: "h" }), delta({ [field]: "m" }), say("Hi"), finish()),
    expect: thinks,
  })),
  {
    id: "Q083",
    title: "both fields with equal text",
    body: chat(delta({ reasoning: "hm", reasoning_content: "hm" }), say("Hi"), finish()),
    expect: thinks,
  },
  {
    id: "Q083",
    title: "one field filled, the other empty",
    body: chat(delta({ reasoning: "hm", reasoning_content: "" }), say("Hi"), finish()),
    expect: thinks,
  },
  {
    id: "Q084",
    title: "reasoning and content in one delta",
    body: chat(delta({ content: "Hi", reasoning_content: "hm" }), finish()),
    expect: { ...thinks, keeps: ['"hm"', '"Hi"'] },
  },
  ...["content", "text", "summary"].map((field) => ({
    id: "Q085",
    title: `reasoning as an object with ${field}`,
    body: chat(delta({ reasoning: { [field]: "hm" } }), say("Hi"), finish()),
    expect: thinks,
  })),
  {
    id: "Q085",
    title: "an odd reasoning object does not affect the text beside it",
    body: chat(delta({ reasoning: { effort: 3 }, content: "Hello." }), finish()),
    expect: hello,
  },
  {
    id: "Q086",
    title: "encrypted reasoning_details are kept",
    body: chat(
      delta({
        reasoning: "hm",
        reasoning_details: [{ type: "reasoning.text", text: "hm", index: 0, format: "x" }],
      }),
      delta({
        reasoning_details: [{ type: "reasoning.encrypted", data: "c2VjcmV0", id: "r1", index: 1 }],
      }),
      say("Hi"),
      finish(),
    ),
    expect: { ...thinks, keeps: ["reasoning.encrypted", "c2VjcmV0"] },
  },
  {
    id: "Q086",
    title: "reasoning_details alone show their text",
    body: chat(
      delta({ reasoning_details: [{ type: "reasoning.text", text: "h", index: 0 }] }),
      delta({ reasoning_details: [{ type: "reasoning.text", text: "m", index: 0 }] }),
      say("Hi"),
      finish(),
    ),
    expect: { ...thinks, keeps: ["reasoning.text", '"text":"hm"'] },
    note: "The catalogue asks to keep them; showing their text too is our interpretation.",
  },
  {
    id: "Q087",
    title: "think tags pass through by default",
    body: chat(say("<thi"), say("nk>hm</think>Hi"), finish()),
    expect: { ends: "any" },
    note: "In the catalogue the splitter is optional, so this checks only that nothing is lost or run.",
  },
  {
    id: "Q088",
    title: "a closing tag only",
    body: chat(say("hm</think>Hi"), finish()),
    expect: { ...done, text: "hm</think>Hi" },
    note: "In the catalogue this is optional; without the option a client must not guess.",
  },
  {
    id: "Q089",
    title: "a signature on the call",
    body: chatCalls(
      calls({
        index: 0,
        id: "a",
        name,
        arguments: osloText,
        extra_content: { google: { thought_signature: "c2lnbmF0dXJl" } },
      }),
    ),
    expect: { ...runsOslo, keeps: ["c2lnbmF0dXJl"] },
  },
  {
    id: "Q089",
    title: "a signature on a later delta of the call",
    body: chatCalls(
      calls({ index: 0, id: "a", name, arguments: '{"city":' }),
      calls({
        index: 0,
        arguments: '"Oslo"}',
        extra_content: { google: { thought_signature: "c2lnbmF0dXJl" } },
      }),
    ),
    expect: { ...runsOslo, keeps: ["c2lnbmF0dXJl"] },
  },
  {
    id: "Q090",
    title: "a refusal in its own field",
    body: chat(delta({ refusal: "I can" }), delta({ refusal: "not." }), finish()),
    expect: { ends: "error", text: "I cannot.", errorCode: ["refusal"] },
    note: "Bowline reports a refusal as an error; a client that shows the refusal as the answer is arguably right too.",
  },
  {
    id: "Q091",
    title: "a surrogate pair cut across two deltas",
    body: sse(
      begin,
      `{"choices":[{"index":0,"delta":{"content":"a\\ud83d"},"finish_reason":null}]}`,
      `{"choices":[{"index":0,"delta":{"content":"\\ude00b"},"finish_reason":null}]}`,
      finish(),
      "[DONE]",
    ),
    expect: { ...done, text: "a\u{1f600}b" },
  },
  {
    id: "Q091",
    title: "a surrogate pair cut in arguments",
    body: sse(
      begin,
      calls({ index: 0, id: "a", name, arguments: "" }),
      `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\\"city\\":\\"\\ud83d"}}]},"finish_reason":null}]}`,
      `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\\ude00\\"}"}}]},"finish_reason":null}]}`,
      finish("tool_calls"),
      "[DONE]",
    ),
    expect: { ...done, calls: [{ name, arguments: { city: "\u{1f600}" } }] },
  },
  {
    id: "Q092",
    title: "stop without any content",
    body: chat(finish()),
    expect: { ends: "error", errorCode: ["empty_response"] },
    note: "Some agents treat an empty answer after tool results as the end of the turn.",
  },
  {
    id: "Q092",
    title: "only reasoning",
    body: chat(delta({ reasoning_content: "hm" }), finish()),
    expect: { ends: "any", thinking: "hm" },
    note: "The catalogue does not say whether reasoning alone is an answer.",
  },
  {
    id: "Q093",
    title: "content_filter in the middle",
    body: chat(say("Hel"), finish("content_filter")),
    expect: { ends: "error", text: "Hel", errorCode: ["content_filtered"] },
  },
  {
    id: "Q093",
    title: "content_filter after a call",
    body: chat(whole, finish("content_filter")),
    expect: { ends: "error", errorCode: ["content_filtered"] },
  },
  {
    id: "Q094",
    title: "usage after the finish reason",
    body: chat(say("Hello."), finish(), raw({ choices: [], usage })),
    expect: counted,
  },
  {
    id: "Q095",
    title: "usage on every chunk, growing",
    body: chat(
      chunk({ content: "Hel" }, null, {
        usage: { ...usage, completion_tokens: 3, total_tokens: 13 },
      }),
      chunk({ content: "lo." }, null, { usage }),
      finish("stop", { usage: null }),
    ),
    expect: counted,
  },
  {
    id: "Q096",
    title: "usage in the choice",
    body: chat(
      say("Hello."),
      raw({ choices: [{ index: 0, delta: {}, finish_reason: "stop", usage }] }),
    ),
    expect: counted,
  },
  {
    id: "Q096",
    title: "usage in x_groq",
    body: chat(say("Hello."), finish("stop", { x_groq: { id: "req_1", usage } })),
    expect: counted,
  },
  {
    id: "Q096",
    title: "cached_tokens at the top of usage",
    body: chat(say("Hello."), finish("stop", { usage: { ...usage, cached_tokens: 4 } })),
    expect: { ...hello, usage: { input: 6, cacheRead: 4, output: 7 } },
  },
  {
    id: "Q096",
    title: "timings of llama.cpp",
    body: chat(say("Hello."), finish("stop", { timings: { prompt_n: 10, predicted_n: 7 } })),
    expect: { ...hello, usage: { input: 10, output: 7 } },
  },
  {
    id: "Q097",
    title: "usage missing",
    body: chat(say("Hello."), finish()),
    expect: { ...hello, usage: { input: undefined, output: undefined, totalTokens: undefined } },
  },
  {
    id: "Q098",
    title: "usage null",
    body: chat(say("Hello."), finish("stop", { usage: null })),
    expect: { ...hello, usage: { input: undefined, output: undefined } },
  },
  {
    id: "Q098",
    title: "usage partial",
    body: chat(
      say("Hello."),
      finish("stop", { usage: { prompt_tokens: 10, completion_tokens: null, total_tokens: null } }),
    ),
    expect: { ...hello, usage: { input: 10, output: undefined } },
  },
  {
    id: "Q098",
    title: "usage as strings",
    body: chat(
      say("Hello."),
      finish("stop", {
        usage: { prompt_tokens: "10", completion_tokens: "7", total_tokens: "17" },
      }),
    ),
    expect: counted,
  },
  {
    id: "Q099",
    title: "cached and reasoning tokens inside",
    body: chat(
      say("Hello."),
      finish("stop", {
        usage: {
          ...usage,
          prompt_tokens_details: { cached_tokens: 4 },
          completion_tokens_details: { reasoning_tokens: 2 },
        },
      }),
    ),
    expect: { ...hello, usage: { input: 6, cacheRead: 4, output: 7, reasoning: 2 } },
  },
  {
    id: "Q099",
    title: "more reasoning than completion",
    body: chat(
      say("Hello."),
      finish("stop", {
        usage: {
          prompt_tokens: 10,
          completion_tokens: 9,
          completion_tokens_details: { reasoning_tokens: 320 },
        },
      }),
    ),
    expect: { ...hello, usage: { input: 10, output: 329, reasoning: 320 } },
  },
  {
    id: "Q099",
    title: "cache hits of DeepSeek",
    body: chat(
      say("Hello."),
      finish("stop", {
        usage: { ...usage, prompt_cache_hit_tokens: 4, prompt_cache_miss_tokens: 6 },
      }),
    ),
    expect: { ...hello, usage: { input: 6, cacheRead: 4 } },
  },
  {
    id: "Q099",
    title: "more cached than prompt",
    body: chat(
      say("Hello."),
      finish("stop", {
        usage: {
          prompt_tokens: 3,
          completion_tokens: 7,
          prompt_tokens_details: { cached_tokens: 4 },
        },
      }),
    ),
    expect: { ...hello, usage: { cacheRead: 4, output: 7 } },
    note: "The catalogue does not say whether input is then 0 or the reported 3: some servers do not count the cache as part of the prompt.",
  },
]);
