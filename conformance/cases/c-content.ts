/** Section C: text, roles and choices (Q071 to Q081). */
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

export const content = fixtures("openai-chat", [
  {
    id: "Q071",
    title: "no role anywhere",
    body: sse(say("Hel"), say("lo."), finish(), "[DONE]"),
    expect: hello,
  },
  ...["", null, "model"].map((role) => ({
    id: "Q071",
    title: `role ${JSON.stringify(role)}`,
    body: sse(chunk({ role, content: "Hel" }), say("lo."), finish(), "[DONE]"),
    expect: hello,
  })),
  {
    id: "Q071",
    title: "role repeated",
    body: sse(
      chunk({ role: "assistant", content: "Hel" }),
      chunk({ role: "assistant", content: "lo." }),
      finish(),
      "[DONE]",
    ),
    expect: hello,
  },
  {
    id: "Q071",
    title: "no role before a call",
    body: sse(whole, finish("tool_calls"), "[DONE]"),
    expect: runsOslo,
  },
  {
    id: "Q072",
    title: "content null beside a call",
    body: chatCalls(
      chunk({
        role: "assistant",
        content: null,
        tool_calls: [
          { index: 0, id: "a", type: "function", function: { name, arguments: osloText } },
        ],
      }),
    ),
    expect: { ...runsOslo, text: "" },
  },
  {
    id: "Q072",
    title: "content empty beside other fields",
    body: chat(
      delta({ content: "", reasoning_content: "hm" }),
      delta({ content: "Hi", reasoning_content: "" }),
      finish(),
    ),
    expect: thinks,
  },
  {
    id: "Q072",
    title: "content missing",
    body: chat(delta({}), say("Hello."), delta({ role: "assistant" }), finish()),
    expect: hello,
  },
  {
    id: "Q073",
    title: "content as parts",
    body: chat(
      delta({ content: [{ type: "thinking", thinking: [{ type: "text", text: "hm" }] }] }),
      delta({ content: [{ type: "text", text: "Hi" }] }),
      finish(),
    ),
    expect: thinks,
  },
  {
    id: "Q073",
    title: "content as parts, one of them unknown",
    body: chat(
      delta({
        content: [
          { type: "reference", reference_ids: [1] },
          { type: "text", text: "Hello." },
        ],
      }),
      finish(),
    ),
    expect: hello,
  },
  {
    id: "Q073",
    title: "content as parts, then as text",
    body: chat(delta({ content: [{ type: "text", text: "Hel" }] }), say("lo."), finish()),
    expect: hello,
  },
  {
    id: "Q074",
    title: "two choices in two chunks each",
    body: chat(
      say("Hel"),
      raw({ choices: [{ index: 1, delta: { content: "Bye" }, finish_reason: null }] }),
      say("lo."),
      raw({ choices: [{ index: 1, delta: {}, finish_reason: "length" }] }),
      finish(),
    ),
    expect: hello,
  },
  {
    id: "Q074",
    title: "two choices in one chunk",
    body: chat(
      raw({
        choices: [
          { index: 1, delta: { content: "Bye." }, finish_reason: "stop" },
          { index: 0, delta: { content: "Hello." }, finish_reason: "stop" },
        ],
      }),
    ),
    expect: hello,
  },
  {
    id: "Q074",
    title: "only choice 1",
    body: sse(
      raw({
        choices: [
          { index: 1, delta: { role: "assistant", content: "Hello." }, finish_reason: null },
        ],
      }),
      raw({ choices: [{ index: 1, delta: {}, finish_reason: "stop" }] }),
      "[DONE]",
    ),
    expect: hello,
  },
  {
    id: "Q074",
    title: "calls of two choices",
    body: chat(
      whole,
      raw({
        choices: [
          {
            index: 1,
            delta: {
              tool_calls: [
                {
                  index: 0,
                  id: "b",
                  type: "function",
                  function: { name: "get_time", arguments: "{}" },
                },
              ],
            },
            finish_reason: null,
          },
        ],
      }),
      finish("tool_calls"),
      raw({ choices: [{ index: 1, delta: {}, finish_reason: "tool_calls" }] }),
    ),
    expect: runsOslo,
  },
  {
    id: "Q075",
    title: "choice index missing, and nothing else",
    body: sse(
      { choices: [{ delta: { role: "assistant", content: "Hel" } }] },
      { choices: [{ delta: { content: "lo." } }] },
      { choices: [{ delta: {}, finish_reason: "stop" }] },
      "[DONE]",
    ),
    expect: hello,
  },
  {
    id: "Q076",
    title: "odd types of metadata",
    body: sse(
      ...[begin, say("Hello."), finish()].map((event) => ({
        ...event,
        id: 123,
        created: "2024",
        model: null,
        object: 7,
        system_fingerprint: {},
      })),
      "[DONE]",
    ),
    expect: hello,
  },
  {
    id: "Q077",
    title: "the id changes",
    body: chat(say("Hel"), { ...say("lo."), id: "chatcmpl-2" }, { ...finish(), id: "chatcmpl-3" }),
    expect: { ...hello, keeps: ["chatcmpl-1"] },
  },
  {
    id: "Q078",
    title: "choices empty first",
    body: sse(
      raw({ choices: [], prompt_filter_results: [{ prompt_index: 0 }] }),
      begin,
      say("Hello."),
      finish(),
      "[DONE]",
    ),
    expect: hello,
  },
  {
    id: "Q078",
    title: "choices null with usage",
    body: chat(say("Hello."), finish(), raw({ choices: null, usage })),
    expect: counted,
  },
  {
    id: "Q078",
    title: "choices missing with usage",
    body: chat(say("Hello."), finish(), raw({ usage })),
    expect: counted,
  },
  {
    id: "Q079",
    title: "delta null with the finish reason",
    body: chat(say("Hello."), chunk(null, "stop")),
    expect: hello,
  },
  {
    id: "Q079",
    title: "delta missing with the finish reason",
    body: sse(begin, say("Hello."), raw({ choices: [{ index: 0, finish_reason: "stop" }] })),
    expect: hello,
  },
  ...["null", "true", "7", '"text"'].map((odd) => ({
    id: "Q080",
    title: `data: ${odd}`,
    body: sse(begin, odd, say("Hello."), finish(), "[DONE]"),
    expect: hello,
  })),
  {
    id: "Q081",
    title: "message instead of delta",
    body: sse(
      raw({
        choices: [
          { index: 0, message: { role: "assistant", content: "Hello." }, finish_reason: "stop" },
        ],
      }),
      "[DONE]",
    ),
    expect: hello,
  },
  {
    id: "Q081",
    title: "message instead of delta, with a call",
    body: sse(
      raw({
        choices: [
          {
            index: 0,
            message: {
              role: "assistant",
              content: null,
              tool_calls: [{ id: "a", type: "function", function: { name, arguments: osloText } }],
            },
            finish_reason: "tool_calls",
          },
        ],
      }),
      "[DONE]",
    ),
    expect: runsOslo,
  },
]);
