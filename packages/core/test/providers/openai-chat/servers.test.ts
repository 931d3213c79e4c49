/**
 * Deviations of well-known servers from the reference, according to public recordings and reports.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AssistantMessage } from "../../../src/llm/message.ts";
import { openaiChat, openaiCompatible } from "../../../src/providers/openai-chat/index.ts";
import { decodeEveryWay } from "../decode.ts";

const sse = (...chunks: (object | string)[]): string =>
  chunks
    .map((chunk) => `data: ${typeof chunk === "string" ? chunk : JSON.stringify(chunk)}\n\n`)
    .join("");
const delta = (content: object, finish: unknown = null, more: object = {}): object => ({
  choices: [{ index: 0, delta: content, finish_reason: finish }],
  ...more,
});
const read = (body: string, protocol = openaiChat): AssistantMessage =>
  decodeEveryWay(protocol, body, ["f"]).message;
/** The stop reason, or the error's code and whether it is retryable. */
const ending = ({ stopReason, error }: AssistantMessage): unknown[] =>
  error === undefined ? [stopReason] : [error.code, error.retryable];

describe("an answer whose end word says that it is incomplete", () => {
  const call = delta({
    tool_calls: [{ index: 0, id: "a", function: { name: "f", arguments: "{}" } }],
  });
  const endings: Record<string, unknown[]> = {
    model_length: ["length"], // Mistral: the context window is full
    model_context_window_exceeded: ["length"],
    MAX_TOKENS: ["length"],
    insufficient_system_resource: ["server_error", true], // DeepSeek
    "function_call_filter: MALFORMED_FUNCTION_CALL": ["server_error", true], // Gemini, after a malformed call
    MALFORMED_FUNCTION_CALL: ["server_error", true],
    network_error: ["server_error", true],
    aborted: ["server_error", true],
    content_filter: ["content_filtered", false],
    "content_filter: PROHIBITED_CONTENT": ["content_filtered", false],
    SPII: ["content_filtered", false],
  };
  for (const [word, expected] of Object.entries(endings)) {
    // Q061, Q207
    it(`maps the end word ${word}`, () => {
      assert.deepEqual(
        ending(read(sse(delta({ content: "Half" }), delta({}, word), "[DONE]"))),
        expected,
      );
      const called = read(sse(call, delta({}, word), "[DONE]"));
      assert.deepEqual([...ending(called), called.rawStopReason], [...expected, word]);
    });
  }

  // Q061
  it("is complete with any other end word", () => {
    for (const word of ["eos", "eos_token", "stop_sequence", "end_turn", "COMPLETE", "repetition"])
      assert.deepEqual(ending(read(sse(delta({ content: "Whole" }), delta({}, word), "[DONE]"))), [
        "stop",
      ]);
    for (const word of ["tool_calls", "function_call", "TOOL_CALL", "stop"])
      assert.deepEqual(ending(read(sse(call, delta({}, word), "[DONE]"))), ["toolUse"]);
  });
});

describe("a server written in Go, such as Snowflake's", () => {
  it("may send empty fields for no call", () => {
    const none = {
      content: "4",
      function_call: { name: "", arguments: "" },
      tool_calls: null,
      refusal: "",
    };
    const whole = read(
      JSON.stringify({ choices: [{ index: 0, message: none, finish_reason: "stop" }] }),
    );
    const empty = { index: 0, id: "", type: "", function: { name: "", arguments: "" } };
    const streamed = read(sse(delta({ content: "4", tool_calls: [empty] }, "stop"), "[DONE]"));
    for (const { content, stopReason } of [whole, streamed])
      assert.deepEqual([content, stopReason], [[{ type: "text", text: "4" }], "stop"]);
  });
});

// Q099
describe("reasoning that only the total counts, as Gemini's does", () => {
  const usage = (counts: object): unknown =>
    read(sse(delta({ content: "Hi" }, "stop", { usage: counts }))).usage;

  it("is counted as output", () => {
    const counts = { prompt_tokens: 35, completion_tokens: 12, total_tokens: 109 };
    assert.deepEqual(usage(counts), { input: 35, output: 74, reasoning: 62, totalTokens: 109 });
  });

  it("is not derived from cached tokens, or from a total of zero", () => {
    const cached = { prompt_tokens_details: { cached_tokens: 10 } };
    const counts = { prompt_tokens: 35, completion_tokens: 12, total_tokens: 109, ...cached };
    assert.deepEqual(usage(counts), { input: 25, output: 12, cacheRead: 10, totalTokens: 109 });
    assert.deepEqual(usage({ prompt_tokens: 3, completion_tokens: 2 }), {
      input: 3,
      output: 2,
      totalTokens: 5,
    });
    const none = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 0 };
    assert.deepEqual(usage(none), { input: 3, output: 2, totalTokens: 0 });
  });
});

describe("an error", () => {
  const refused = (raw: unknown): object => ({
    error: {
      message: "Provider returned error",
      code: 400,
      metadata: { raw, provider_name: "Somebody" },
    },
  });

  it("of a server behind OpenRouter is reported in that server's words", () => {
    const inner = {
      error: { message: "At most 1 image is allowed.", type: "invalid_request_error" },
    };
    for (const raw of [inner, JSON.stringify(inner), "At most 1 image is allowed."]) {
      const { error } = read(sse(refused(raw)));
      assert.equal(error?.code, "invalid_request");
      assert.match(error.message, /: At most 1 image is allowed\.$/);
    }
    assert.match(read(sse(refused(undefined))).errorMessage ?? "", /: Provider returned error$/);
    const page = "<html><head><title>502 Bad Gateway</title></head></html>";
    assert.match(
      read(sse(refused(page))).errorMessage ?? "",
      /: an HTML page titled "502 Bad Gateway"$/,
    );
  });

  const minimax = (code: number, message: string): object => ({
    id: "1",
    choices: null,
    base_resp: { status_code: code, status_msg: message },
  });

  it("of MiniMax under HTTP 200 is an error, whole or in the stream", () => {
    const failure = (body: string): unknown[] => {
      const { error } = read(body, openaiCompatible);
      return [error?.code, error?.retryable, error?.message.split(": ").at(-1)];
    };
    const broke = JSON.stringify(minimax(1008, "insufficient balance"));
    assert.deepEqual(failure(broke), ["quota_exceeded", false, "insufficient balance"]);
    const stopped = sse(delta({ content: "Hal" }), minimax(1002, "rate limit"));
    assert.deepEqual(failure(stopped), ["rate_limited", true, "rate limit"]);
    assert.deepEqual(failure(sse(minimax(1004, "login fail"))), [
      "authentication_failed",
      false,
      "login fail",
    ]);
    assert.deepEqual(failure(sse(minimax(1000, "unknown error"))), [
      "server_error",
      true,
      "unknown error",
    ]);
  });

  it("of MiniMax with code 0 is not an error", () => {
    const fine = { base_resp: { status_code: 0, status_msg: "" } };
    const { stopReason } = read(
      sse(delta({ content: "Hi" }, "stop", fine), "[DONE]"),
      openaiCompatible,
    );
    assert.equal(stopReason, "stop");
  });

  it("of llama.cpp up to late 2025 is read from a non-standard event stream field", () => {
    const field = (code: number, message: string): string =>
      `error: ${JSON.stringify({ code, message, type: "x" })}\n\n`;
    const tooLong = "the request exceeds the available context size";
    const { error, content } = read(`${field(400, tooLong)}${sse("[DONE]")}`);
    assert.deepEqual([error?.code, content], ["context_overflow", []]);
    const stopped = read(`${sse(delta({ content: "Hal" }))}${field(500, "boom")}${sse("[DONE]")}`);
    assert.deepEqual(
      [stopped.error?.code, stopped.content],
      ["server_error", [{ type: "text", text: "Hal" }]],
    );
    assert.match(stopped.error?.message ?? "", /boom/);
  });

  // Q192
  it("of a model that speaks another wire names that wire", () => {
    const { error } = read(
      sse({ type: "response.created", response: { id: "r" } }),
      openaiCompatible,
    );
    assert.equal(error?.code, "unexpected_response");
    assert.match(error.message, /openai-responses/);
  });
});
