import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AssistantMessage, ToolCall } from "../../../src/llm/message.ts";
import { openaiChat } from "../../../src/providers/openai-chat/index.ts";
import { getModel } from "../../../src/providers/vendors.ts";
import { decode, decodeEveryWay } from "../decode.ts";
import { cpuMs } from "../../../../../test/support/cpu-time.ts";

const model = getModel("openai", "m");

/** Decodes in every way that must agree, and checks for exactly one end. */
function answer(body: string, toolNames: readonly string[] = []): AssistantMessage {
  const { events, message } = decodeEveryWay(openaiChat, body, toolNames);
  assert.equal(events.filter(({ type }) => type === "done" || type === "error").length, 1);
  return message;
}

const sse = (...chunks: (object | string)[]): string =>
  chunks
    .map((chunk) => `data: ${typeof chunk === "string" ? chunk : JSON.stringify(chunk)}\n\n`)
    .join("");
const delta = (content: object, finish: unknown = null): object => ({
  choices: [{ index: 0, delta: content, finish_reason: finish }],
});
const call = (fields: object, finish: unknown = null): object =>
  delta({ tool_calls: [fields] }, finish);
const text = (message: AssistantMessage): string =>
  message.content.map((part) => (part.type === "text" ? part.text : "")).join("");
const toolCalls = (message: AssistantMessage): unknown[] =>
  message.content
    .filter((part): part is ToolCall => part.type === "toolCall")
    .map(({ id, name, arguments: args }) => [id, name, args]);

describe("the chat wire reads", () => {
  it("text, ids, the answering model and usage, with cached tokens apart", () => {
    const message = answer(
      sse(
        {
          id: "c1",
          model: "m-2026",
          choices: [{ index: 0, delta: { role: "assistant", content: "" } }],
        },
        delta({ content: "Hel" }),
        delta({ content: "lo" }, "stop"),
        {
          choices: [],
          usage: {
            prompt_tokens: 10,
            completion_tokens: 4,
            total_tokens: 14,
            prompt_tokens_details: { cached_tokens: 6 },
            completion_tokens_details: { reasoning_tokens: 1 },
          },
        },
        "[DONE]",
      ),
    );
    assert.deepEqual(
      [
        text(message),
        message.responseId,
        message.responseModel,
        message.stopReason,
        message.rawStopReason,
      ],
      ["Hello", "c1", "m-2026", "stop", "stop"],
    );
    assert.deepEqual(message.usage, {
      input: 4,
      output: 4,
      cacheRead: 6,
      reasoning: 1,
      totalTokens: 14,
    });
  });

  // Q099
  it("reasoning tokens that only the total counts, for answers of any length", () => {
    const usage = (
      prompt: number,
      completion: number,
      reasoning: number,
      total: number,
    ): unknown => {
      const counts = { prompt_tokens: prompt, completion_tokens: completion, total_tokens: total };
      const wire = { ...counts, completion_tokens_details: { reasoning_tokens: reasoning } };
      return answer(sse(delta({ content: "Hi" }, "stop"), { choices: [], usage: wire }, "[DONE]"))
        .usage.output;
    };
    assert.deepEqual(usage(12, 900, 300, 1212), 1200); // xAI
    assert.deepEqual(usage(12, 900, 300, 912), 900); // servers whose completion count includes reasoning
    assert.deepEqual(usage(43, 10, 11, 53), 10); // one too many, as OpenRouter sometimes counts
    assert.deepEqual(usage(12, 1, 300, 0), 301); // no usable total
  });

  it("cache writes, also under DashScope's name", () => {
    const details = { cached_tokens: 80, cache_creation_input_tokens: 15 };
    const usage = {
      prompt_tokens: 100,
      completion_tokens: 5,
      total_tokens: 105,
      prompt_tokens_details: details,
    };
    assert.deepEqual(
      answer(sse(delta({ content: "Hi" }, "stop"), { choices: [], usage }, "[DONE]")).usage,
      {
        input: 5,
        output: 5,
        cacheRead: 80,
        cacheWrite: 15,
        totalTokens: 105,
      },
    );
  });

  it("arguments at the same cost for each piece, regardless of earlier ones and repeated fields", () => {
    // Work that grows with the text would take minutes; the limit only has to distinguish the two.
    const piece = { arguments: "x".repeat(10) };
    const again = [{ name: "f" }, { id: "a", name: "f" }, { id: "b" }, { id: "c", name: "f" }];
    const chunks = Array.from({ length: 100_000 }, (_, n) => {
      const { id, name } = { id: undefined, name: undefined, ...again[n % again.length] };
      return call({ index: 0, id, function: { ...piece, name } });
    });
    const first = call({ index: 0, id: "a", function: { name: "f", arguments: '{"t":"' } });
    const last = call({ index: 0, function: { arguments: '"}' } }, "tool_calls");
    const body = [first, ...chunks, last, "[DONE]"].map((chunk) =>
      new TextEncoder().encode(sse(chunk)),
    );
    const from = cpuMs();
    const { message } = decode(openaiChat, body, ["f"]);
    assert.ok(cpuMs() - from < 5000);
    assert.deepEqual(toolCalls(message), [["a", "f", { t: "x".repeat(1_000_000) }]]);
  });

  it("reasoning before text, under the name it came in", () => {
    const message = answer(
      sse(delta({ reasoning: "hm" }), delta({ reasoning: "m", content: "Hi" }, "stop"), "[DONE]"),
    );
    assert.deepEqual(message.content, [
      { type: "thinking", thinking: "hmm", field: "reasoning" },
      { type: "text", text: "Hi" },
    ]);
  });

  it("parallel calls with streamed arguments, interleaved", () => {
    const message = answer(
      sse(
        call({ index: 0, id: "a", type: "function", function: { name: "f", arguments: "" } }),
        call({ index: 1, id: "b", type: "function", function: { name: "g", arguments: '{"y"' } }),
        call({ index: 0, function: { arguments: '{"x":' } }),
        call({ index: 1, function: { arguments: ":2}" } }),
        call({ index: 0, function: { arguments: "1}" } }, "tool_calls"),
        "[DONE]",
      ),
    );
    assert.equal(message.stopReason, "toolUse");
    assert.deepEqual(toolCalls(message), [
      ["a", "f", { x: 1 }],
      ["b", "g", { y: 2 }],
    ]);
  });

  it("a refusal as an error with its text", () => {
    const message = answer(sse(delta({ refusal: "I cannot" }, "stop"), "[DONE]"));
    assert.deepEqual(
      [text(message), message.stopReason, message.error?.code],
      ["I cannot", "error", "refusal"],
    );
  });

  it("an error in the stream, keeping the partial answer", () => {
    const message = answer(
      sse(delta({ content: "Hi" }), { error: { message: "upstream died", code: 502 } }),
    );
    assert.deepEqual(
      [text(message), message.error],
      [
        "Hi",
        {
          code: "server_error",
          message: "The server reported an error in the stream: upstream died",
          status: 502,
          retryable: true,
        },
      ],
    );
  });

  it("the end of the bytes as a truncation, whatever came before", () => {
    assert.equal(answer(sse(delta({ content: "Hi" }))).error?.code, "stream_truncated");
    const cut = answer(
      sse(call({ index: 0, id: "a", function: { name: "f", arguments: '{"x":1}' } })),
    );
    assert.deepEqual([cut.error?.code, cut.stopReason], ["stream_truncated", "error"]);
  });

  it('a cut by the token limit as "length", with the call marked unusable', () => {
    const message = answer(
      sse(
        call({ index: 0, id: "a", function: { name: "f", arguments: '{"city":"Os' } }, "length"),
        "[DONE]",
      ),
    );
    const [cut] = message.content;
    assert.equal(message.stopReason, "length");
    assert.ok(cut?.type === "toolCall" && cut.argumentsError !== undefined);
    assert.deepEqual(cut.arguments, {});
  });

  it("an empty stream as an empty response", () => {
    assert.equal(answer(sse(delta({}, "stop"), "[DONE]")).error?.code, "empty_response");
    assert.equal(answer("").error?.code, "empty_response");
  });

  it("an HTML page instead of a stream, by its title", () => {
    const message = answer("<!doctype html>\n<html><head><title>Sign in</title></head></html>");
    assert.deepEqual(
      [message.error?.code, /titled "Sign in"/.test(message.errorMessage ?? "")],
      ["unexpected_response", true],
    );
  });

  // Q018, Q081, Q019
  it("a whole answer in one JSON object, and an error in one", () => {
    assert.equal(
      text(
        answer(
          JSON.stringify({
            choices: [{ message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }],
          }),
        ),
      ),
      "Hi",
    );
    assert.match(
      answer('{"error":"Unexpected endpoint"}').errorMessage ?? "",
      /Unexpected endpoint/,
    );
  });

  // Q018, Q092
  it("an empty answer in one JSON object as empty, and not as a wrong address", () => {
    const nothing = (reason: string | null): unknown =>
      answer(
        JSON.stringify({
          choices: [{ message: { role: "assistant", content: "" }, finish_reason: reason }],
        }),
      ).error?.code;
    assert.deepEqual(["stop", "content_filter", null].map(nothing), [
      "empty_response",
      "content_filtered",
      "unexpected_response",
    ]);
  });
});

describe("tool calls of servers that deviate", () => {
  const f = (args: unknown, extra: object = {}): object => ({
    type: "function",
    function: { name: "f", arguments: args },
    ...extra,
  });
  const cases: Record<string, [string, unknown[]]> = {
    // Q031
    "no index": [
      sse(call(f("{}", { id: "a" })), call(f('{"x":1}', { id: "b" }), "tool_calls")),
      [
        ["a", "f", {}],
        ["b", "f", { x: 1 }],
      ],
    ],
    // Q032
    "no index on fragments either": [
      sse(
        call(f("", { id: "a" })),
        call({ function: { arguments: '{"x"' } }),
        call({ function: { arguments: ":1}" } }, "stop"),
      ),
      [["a", "f", { x: 1 }]],
    ],
    // Q033
    "all calls under index 0": [
      sse(
        call(f("{}", { index: 0, id: "a" })),
        call(f('{"x":1}', { index: 0, id: "b" }), "tool_calls"),
      ),
      [
        ["a", "f", {}],
        ["b", "f", { x: 1 }],
      ],
    ],
    // Q034
    "an index that does not start at 0": [
      sse(call(f("{}", { index: 3, id: "a" }), "tool_calls")),
      [["a", "f", {}]],
    ],
    // Q035
    "an index as text": [
      sse(
        call(f('{"x"', { index: "0", id: "a" })),
        call({ index: 0, function: { arguments: ":1}" } }, "stop"),
      ),
      [["a", "f", { x: 1 }]],
    ],
    // Q036
    "the id on every delta": [
      sse(
        call(f('{"x"', { index: 0, id: "a" })),
        call({ index: 0, id: "a", function: { arguments: ":1}" } }, "stop"),
      ),
      [["a", "f", { x: 1 }]],
    ],
    // Q037
    "another id on every delta": [
      sse(
        call(f('{"x"', { index: 0, id: "a" })),
        call({ index: 0, id: "b", function: { arguments: ":1}" } }, "stop"),
      ),
      [["a", "f", { x: 1 }]],
    ],
    // Q038
    "no id": [
      sse(call(f("{}", { index: 0, id: "" })), call(f("{}", { index: 1, id: null }), "stop")),
      [
        ["call_1", "f", {}],
        ["call_2", "f", {}],
      ],
    ],
    // Q040
    "one id for two calls": [
      sse(
        call(f('{"x":1}', { index: 0, id: "a" })),
        call(f('{"x":2}', { index: 1, id: "a" }), "stop"),
      ),
      [
        ["a", "f", { x: 1 }],
        ["call_1", "f", { x: 2 }],
      ],
    ],
    // Q042
    "the name on every delta": [
      sse(call(f('{"x"', { index: 0, id: "a" })), call(f(":1}", { index: 0, id: "a" }), "stop")),
      [["a", "f", { x: 1 }]],
    ],
    // Q043
    "the name in pieces": [
      sse(
        call({ index: 0, id: "a", function: { name: "get_" } }),
        call({ index: 0, function: { name: "weather", arguments: "{}" } }, "stop"),
      ),
      [["a", "get_weather", {}]],
    ],
    // Q044
    "a late name": [
      sse(call({ index: 0, id: "a" }), call(f('{"x":1}', { index: 0 }), "stop")),
      [["a", "f", { x: 1 }]],
    ],
    // Q045
    "no name at all": [
      sse(call({ index: 0, id: "a", function: { arguments: "{}" } }, "stop")),
      [["a", "unnamed", {}]],
    ],
    // Q046
    "arguments as an object": [
      sse(call(f({ x: 1 }, { index: 0, id: "a" }), "stop")),
      [["a", "f", { x: 1 }]],
    ],
    // Q048
    "no arguments": [sse(call(f(null, { index: 0, id: "a" }), "stop")), [["a", "f", {}]]],
    // Q049
    "a placeholder first": [
      sse(
        call(f("{}", { index: 0, id: "a" })),
        call({ index: 0, function: { arguments: '{"x":1}' } }, "stop"),
      ),
      [["a", "f", { x: 1 }]],
    ],
    // Q050
    snapshots: [
      sse(
        call(f('{"x":', { index: 0, id: "a" })),
        call({ index: 0, function: { arguments: '{"x":1}' } }, "stop"),
      ),
      [["a", "f", { x: 1 }]],
    ],
    // Q052
    "raw control characters": [
      sse(call(f('{"x":"a\nb\\d"}', { index: 0, id: "a" }), "stop")),
      [["a", "f", { x: "a\nb\\d" }]],
    ],
    "two calls without id, the first without arguments": [
      sse(
        call(f("{}")),
        call({ type: "function", function: { name: "g", arguments: '{"x":1}' } }, "stop"),
      ),
      [
        ["call_1", "f", {}],
        ["call_2", "g", { x: 1 }],
      ],
    ],
    "two calls of one tool without index and id, each opened by its name alone": [
      sse(
        call(f("")),
        call({ function: { arguments: '{"a"' } }),
        call({ function: { arguments: ":1}" } }),
        call(f("")),
        call({ function: { arguments: '{"a":' } }),
        call({ function: { arguments: "2}" } }, "tool_calls"),
      ),
      [
        ["call_1", "f", { a: 1 }],
        ["call_2", "f", { a: 2 }],
      ],
    ],
    "the same under one index, three times": [
      sse(
        ...[1, 2, 3].flatMap((n) => [
          call(f("", { index: 0 })),
          call({ index: 0, function: { arguments: ` {"a":${n}}` } }),
        ]),
        delta({}, "tool_calls"),
      ),
      [
        ["call_1", "f", { a: 1 }],
        ["call_2", "f", { a: 2 }],
        ["call_3", "f", { a: 3 }],
      ],
    ],
    "the name again after a complete call, without a new call": [
      sse(
        call(f("")),
        call({ function: { arguments: '{"a":1}' } }),
        call(f("")),
        call({ function: { arguments: "\n" } }, "stop"),
      ),
      [["call_1", "f", { a: 1 }]],
    ],
    "the name again between arguments": [
      sse(call(f('{"a":')), call(f("")), call({ function: { arguments: '{"b":1}}' } }, "stop")),
      [["call_1", "f", { a: { b: 1 } }]],
    ],
    "one id for two calls, with the name on every delta": [
      sse(
        call(f('{"a":1}', { index: 0, id: "x" })),
        call(f("", { index: 1, id: "x" })),
        call(f('{"a":2}', { index: 1, id: "x" }), "stop"),
      ),
      [
        ["x", "f", { a: 1 }],
        ["call_1", "f", { a: 2 }],
      ],
    ],
    "white space after a complete call": [
      sse(call(f('{"a":1}', { index: 0 })), call(f(" ", { index: 0 }), "stop")),
      [["call_1", "f", { a: 1 }]],
    ],
    "one id for two calls without an index": [
      sse(
        call(f('{"a":1}', { id: "x" })),
        call({ id: "x", function: { name: "g", arguments: "{}" } }, "stop"),
      ),
      [
        ["x", "f", { a: 1 }],
        ["call_1", "g", {}],
      ],
    ],
    "an id that comes late, with the name again": [
      sse(call(f('{"a"', { index: 0, id: null })), call(f(":1}", { index: 0, id: "z" }), "stop")),
      [["call_1", "f", { a: 1 }]],
    ],
    "interleaved calls under one index, told apart by id": [
      sse(
        call(f('{"a"', { index: 0, id: "a" })),
        call(f('{"b"', { index: 0, id: "b" })),
        call({ index: 0, id: "a", function: { arguments: ":1}" } }),
        call({ index: 0, id: "b", function: { arguments: ":2}" } }, "stop"),
      ),
      [
        ["a", "f", { a: 1 }],
        ["b", "f", { b: 2 }],
      ],
    ],
    // Q059
    "no finish reason, but [DONE]": [
      sse(call(f("{}", { index: 0, id: "a" })), "[DONE]"),
      [["a", "f", {}]],
    ],
    // Q061
    "a foreign finish reason": [
      sse(call(f("{}", { index: 0, id: "a" }), "tool_use")),
      [["a", "f", {}]],
    ],
    // Q068
    "the old single function_call": [
      sse(
        delta({ function_call: { name: "f", arguments: '{"x"' } }),
        delta({ function_call: { arguments: ":1}" } }, "function_call"),
      ),
      [["call_1", "f", { x: 1 }]],
    ],
  };
  for (const [what, [body, expected]] of Object.entries(cases)) {
    it(what, () => {
      const message = answer(body, ["f", "g", "get_weather"]);
      assert.deepEqual([message.stopReason, toolCalls(message)], ["toolUse", expected]);
    });
  }

  // Q089
  it("a signature beside the call", () => {
    const message = answer(
      sse(
        call(f("{}", { id: "a", extra_content: { google: { thought_signature: "S" } } }), "stop"),
      ),
    );
    assert.equal(
      message.content[0]?.type === "toolCall" && message.content[0].thoughtSignature,
      "S",
    );
  });

  // Q063
  it("finish reason `error`, after which no call runs", () => {
    assert.deepEqual(
      answer(sse(call(f("{}", { index: 0, id: "a" }), "error"), "[DONE]")).stopReason,
      "error",
    );
  });
});

describe("the chat wire writes", () => {
  const user = { role: "user" as const, content: "Hi", timestamp: 1 };

  it("only the requested options", () => {
    const { url, body, headers } = openaiChat.encode(
      getModel("groq", "m"),
      { systemPrompt: "Be brief.", messages: [user] },
      { apiKey: " k\n" },
    );
    assert.equal(url, "https://api.groq.com/openai/v1/chat/completions");
    assert.equal(headers.authorization, "Bearer k");
    assert.deepEqual(body, {
      model: "m",
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "Hi" },
      ],
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  // Q136, Q109, Q110
  it("no Authorization header without a key, and no tool fields without tools", () => {
    const { headers, body } = openaiChat.encode(
      getModel("ollama", "m"),
      { messages: [user], tools: [] },
      { toolChoice: "required" },
    );
    assert.equal("authorization" in headers, false);
    assert.deepEqual(Object.keys(body), ["model", "messages", "stream", "stream_options"]);
  });

  // Q123, Q127
  it("results after their calls, images after the last of them, a result for open calls, and no orphans", () => {
    const assistant: AssistantMessage = {
      role: "assistant",
      content: [
        { type: "toolCall", id: "a", name: "f", arguments: { x: 1 } },
        { type: "toolCall", id: "b", name: "g", arguments: {} },
      ],
      api: "other",
      provider: "other",
      model: "other",
      usage: {},
      stopReason: "toolUse",
      timestamp: 1,
    };
    const result = (id: string) => ({
      role: "toolResult" as const,
      toolCallId: id,
      toolName: "f",
      content: [
        { type: "text" as const, text: id },
        { type: "image" as const, data: "aGk=", mimeType: "image/png" },
      ],
      isError: false,
      timestamp: 1,
    });
    const { body } = openaiChat.encode(
      model,
      { messages: [user, assistant, user, result("a"), result("lost")] },
      {},
    );
    assert.deepEqual(
      (body.messages as { role: string }[]).map(({ role }) => role),
      ["user", "assistant", "tool", "tool", "user", "user"],
    );
    const [, sent, first, second, images] = body.messages as Record<string, unknown>[];
    assert.deepEqual((sent?.tool_calls as { function: unknown }[] | undefined)?.[0]?.function, {
      name: "f",
      arguments: '{"x":1}',
    });
    assert.deepEqual(
      [first?.content, second?.content],
      ["a", "No result was recorded for this call."],
    );
    assert.match(JSON.stringify(images), /data:image\/png;base64,aGk=/);
  });

  it("no failed answers, but the text of aborted ones", () => {
    const failed = (stopReason: "error" | "aborted"): AssistantMessage => ({
      role: "assistant",
      content: [
        { type: "text", text: stopReason },
        { type: "toolCall", id: "a", name: "f", arguments: {} },
      ],
      api: "",
      provider: "",
      model: "",
      usage: {},
      stopReason,
      timestamp: 1,
    });
    const { body } = openaiChat.encode(
      model,
      { messages: [user, failed("error"), failed("aborted"), user] },
      {},
    );
    assert.deepEqual((body.messages as Record<string, unknown>[]).slice(1), [
      { role: "assistant", content: "aborted" },
      { role: "user", content: "[The answer above is incomplete. It was aborted.]\nHi" },
    ]);
  });
});
