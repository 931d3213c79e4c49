import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  answer,
  call,
  calls,
  end,
  ending,
  opaque,
  parts,
  read,
  said,
  sse,
  text,
} from "./events.ts";

describe("the generateContent wire reads", () => {
  // Q218
  it("text, id, the answering model and usage, with cache, thoughts and server tools apart", () => {
    const message = answer(
      {
        ...text("Hel")[0],
        responseId: "r1",
        modelVersion: "m-001",
        usageMetadata: { promptTokenCount: 9 },
      },
      ...text("", "lo"),
      {
        ...end(),
        responseId: "r2",
        usageMetadata: {
          promptTokenCount: 20,
          cachedContentTokenCount: 8,
          toolUsePromptTokenCount: 3,
          candidatesTokenCount: 5,
          thoughtsTokenCount: 7,
          totalTokenCount: 35,
        },
      },
    );
    assert.deepEqual(message.content, said);
    assert.deepEqual(
      [message.responseId, message.responseModel, ...ending(message)],
      ["r1", "m-001", "stop", "STOP", undefined],
    );
    assert.deepEqual(message.usage, {
      input: 15,
      output: 12,
      cacheRead: 8,
      reasoning: 7,
      totalTokens: 35,
    });
  });

  it("a whole turn as the expected events, in order", () => {
    const { events } = read(
      sse(
        parts({ text: "hm", thought: true }),
        parts(
          { text: "I look." },
          { functionCall: { name: "f", args: { x: 1 } }, thoughtSignature: "S" },
        ),
        end(),
      ),
    );
    assert.deepEqual(
      events.map((event) =>
        "contentIndex" in event ? `${event.type} ${event.contentIndex}` : event.type,
      ),
      [
        "start",
        "thinking_start 0",
        "thinking_delta 0",
        "thinking_end 0",
        "text_start 1",
        "text_delta 1",
        "text_end 1",
        "toolcall_start 2",
        "toolcall_delta 2",
        "toolcall_end 2",
        "done",
      ],
    );
  });

  it("usage that is missing, malformed or partial, with the last value of each count", () => {
    const usage = (...metadata: unknown[]): unknown =>
      answer(...metadata.map((usageMetadata) => ({ ...text("x")[0], usageMetadata })), end()).usage;
    assert.deepEqual(usage(undefined), {});
    assert.deepEqual(usage(null, { trafficType: "ON_DEMAND" }, { promptTokenCount: "many" }), {});
    assert.deepEqual(usage({ promptTokenCount: "7" }, { candidatesTokenCount: -1 }), { input: 7 });
    assert.deepEqual(
      usage({ promptTokenCount: 169 }, { promptTokenCount: 79, candidatesTokenCount: 12 }),
      {
        input: 79,
        output: 12,
        totalTokens: 91,
      },
    );
    assert.deepEqual(usage({ thoughtsTokenCount: 4 }), { output: 4, reasoning: 4 });
    assert.deepEqual(usage({ promptTokenCount: 0, cachedContentTokenCount: 3 }), {
      input: 0,
      cacheRead: 3,
    });
    assert.deepEqual(usage({ toolUsePromptTokenCount: 3 }), {});
  });

  // Q214, Q215, Q017
  it("an answer in an envelope, in snake_case, and [DONE] as nothing", () => {
    assert.deepEqual(
      answer({ response: text("Hello")[0], traceId: "t" }, { response: end() }, "[DONE]").content,
      said,
    );
    const message = answer(
      {
        candidates: [
          {
            content: {
              parts: [{ function_call: { name: "f", args: { x: 1 } }, thought_signature: "S" }],
            },
          },
        ],
        response_id: "r",
        model_version: "m-001",
        usage_metadata: { prompt_token_count: 2, candidates_token_count: 1, total_token_count: 3 },
      },
      { candidates: [{ finish_reason: "STOP" }] },
    );
    assert.deepEqual(message.content[0], {
      type: "toolCall",
      id: "call_1",
      name: "f",
      arguments: { x: 1 },
      argumentsText: '{"x":1}',
      thoughtSignature: "S",
    });
    assert.deepEqual(
      [message.responseId, message.responseModel, message.usage.totalTokens],
      ["r", "m-001", 3],
    );
    assert.deepEqual(ending(message), ["toolUse", "STOP", undefined]);
    assert.equal(
      answer({ prompt_feedback: { block_reason: "SAFETY" } }).error?.code,
      "content_filtered",
    );
  });

  // Q215
  it("every token count in snake_case as in camelCase", () => {
    const counts = {
      promptTokenCount: 20,
      cachedContentTokenCount: 8,
      toolUsePromptTokenCount: 3,
      candidatesTokenCount: 5,
      thoughtsTokenCount: 7,
      totalTokenCount: 35,
    };
    const snake = Object.fromEntries(
      Object.entries(counts).map(([name, count]) => [
        name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
        count,
      ]),
    );
    const usage = (chunk: object): unknown => answer(...text("x"), { ...end(), ...chunk }).usage;
    assert.deepEqual(usage({ usage_metadata: snake }), usage({ usageMetadata: counts }));
    assert.deepEqual(usage({ usageMetadata: snake }), {
      input: 15,
      output: 12,
      cacheRead: 8,
      reasoning: 7,
      totalTokens: 35,
    });
  });

  it("the first candidate, with an index or without", () => {
    const candidate = (words: string, fields: object): object => ({
      content: { parts: [{ text: words }] },
      ...fields,
    });
    const message = answer(
      { candidates: [candidate("Hel", {})] },
      { candidates: [candidate("no", { index: 1 })] },
      { candidates: [candidate("no", { index: 1 }), candidate("lo", { index: 0 })] },
      end(),
    );
    assert.deepEqual(message.content, said);
  });

  // Q210
  it("empty candidates, content and parts as nothing", () => {
    const nothing = [
      {},
      { candidates: [] },
      { candidates: null },
      { candidates: [null, {}] },
      { candidates: [{ content: {} }] },
      { candidates: [{ content: { role: "model" } }] },
      {
        candidates: [
          {
            content: {
              parts: [null, "x", {}, { thought: true }, { text: null, inlineData: null }],
            },
          },
        ],
      },
    ];
    assert.deepEqual(answer(...nothing, ...text("Hello"), ...nothing, end()).content, said);
    const { error } = answer(...nothing, end());
    assert.deepEqual([error?.code, error?.retryable], ["empty_response", true]);
    assert.equal(answer(parts({ text: "hm", thought: true }), end()).error?.code, "empty_response");
    assert.equal(
      answer(parts({ text: "", thoughtSignature: "S" }), end()).error?.code,
      "empty_response",
    );
  });

  it("the first of several candidates", () => {
    const candidate = (index: number, words: string): object => ({
      index,
      content: { parts: [{ text: words }] },
    });
    const message = answer(
      { candidates: [candidate(1, "other"), candidate(0, "Hel")] },
      { candidates: [candidate(1, "other")] },
      { candidates: [candidate(0, "lo"), { index: 1, finishReason: "SAFETY" }] },
      end(),
    );
    assert.deepEqual([message.content, ...ending(message)], [said, "stop", "STOP", undefined]);
  });

  // Q213
  it("an error in the stream as a typed error with its status, keeping the partial answer", () => {
    const error = {
      error: { code: 503, message: "The model is overloaded.", status: "UNAVAILABLE" },
    };
    const expected = {
      code: "overloaded",
      message: "The server reported an error in the stream: The model is overloaded.",
      status: 503,
      retryable: true,
    };
    const late = answer(...text("Hello"), error);
    assert.deepEqual([late.content, late.error], [said, expected]);
    assert.deepEqual(answer(error).error, expected);
    assert.deepEqual(answer([error]).error, expected);
    assert.deepEqual(read(JSON.stringify(error)).message.error?.code, "overloaded");
    assert.equal(answer({ response: { error: { code: 400, message: "no" } } }).error?.status, 400);
    assert.deepEqual(
      answer({ ...text("Hello")[0], error: null }, { error: {} }, { error: "" }, end()).content,
      said,
    );
  });

  // Q018, Q212
  it("a whole answer in one JSON object, and chunks in one array", () => {
    const whole = {
      candidates: [{ content: { parts: [{ text: "Hello" }] }, finishReason: "STOP" }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 2 },
    };
    const { message } = read(JSON.stringify(whole, undefined, 2));
    assert.deepEqual(
      [message.content, message.stopReason, message.usage.totalTokens],
      [said, "stop", 3],
    );
    assert.deepEqual(answer([...text("Hel", "lo"), end()]).content, said);
  });

  // Q212, Q102
  it("a body that is a plain array, of an answer or of an error", () => {
    const array = [...text("Hel", "lo"), call({ name: "f", args: { x: 1 } }), end()];
    const { message } = read(JSON.stringify(array, undefined, 2).replaceAll("\n", "\r\n"));
    assert.deepEqual(
      [message.content[0], calls(message), message.stopReason],
      [...said, [["call_1", "f", { x: 1 }]], "toolUse"],
    );
    const error = { error: { code: 503, message: "Busy.", status: "UNAVAILABLE" } };
    assert.deepEqual(read(JSON.stringify([error], undefined, 2)).message.error?.status, 503);
  });

  // Q209
  it("a blocked prompt as filtered, naming the reason", () => {
    const message = answer({
      promptFeedback: { blockReason: "PROHIBITED_CONTENT", blockReasonMessage: "Not this." },
    });
    assert.deepEqual(ending(message), ["error", "PROHIBITED_CONTENT", "content_filtered"]);
    assert.match(message.errorMessage ?? "", /PROHIBITED_CONTENT.*Not this\./);
    const unblocked = {
      promptFeedback: { safetyRatings: [], blockReason: "BLOCK_REASON_UNSPECIFIED" },
    };
    assert.deepEqual(answer(unblocked, ...text("Hello"), end()).content, said);
  });

  // Q211
  it("the last finish reason without stopping early, and an end without one as a truncation", () => {
    const stopped = {
      ...(parts({ text: "Hel" }) as { candidates: object[] }).candidates[0],
      finishReason: "STOP",
    };
    const message = answer(
      { candidates: [stopped] },
      ...text("lo"),
      end("MAX_TOKENS"),
      end(null),
      end(""),
    );
    assert.deepEqual(
      [message.content, ...ending(message)],
      [said, "length", "MAX_TOKENS", undefined],
    );
    const unspecified = answer(...text("Hello"), end("FINISH_REASON_UNSPECIFIED"));
    assert.deepEqual(
      [unspecified.error?.code, unspecified.error?.retryable],
      ["stream_truncated", true],
    );
    const cutOff = answer(call({ name: "f", args: { x: 1 } }));
    assert.deepEqual(ending(cutOff), ["error", undefined, "stream_truncated"]);
  });

  it("CONTINUATION as a cut, not as the end", () => {
    const message = answer(...text("Hello"), end("CONTINUATION", { continuationToken: "AAAA" }));
    assert.deepEqual(
      [message.content, ...ending(message)],
      [said, "length", "CONTINUATION", undefined],
    );
    assert.equal(answer(call({ name: "f", args: {} }), end("CONTINUATION")).stopReason, "length");
  });

  // Q204, Q207, Q208, Q219
  it("every finish reason by its meaning", () => {
    const reason = (value: string, ...chunks: object[]): unknown[] => {
      const { stopReason, rawStopReason, error } = answer(
        ...chunks,
        end(value, { finishMessage: "why" }),
      );
      assert.equal(rawStopReason, value);
      if (error !== undefined) assert.match(error.message, new RegExp(`${value}.*: why`));
      return error === undefined ? [stopReason] : [error.code, error.retryable];
    };
    const called = call({ name: "f", args: {} });
    assert.deepEqual(reason("STOP", called), ["toolUse"]);
    assert.deepEqual(reason("MAX_TOKENS", parts({ text: "hm", thought: true })), ["length"]);
    assert.deepEqual(reason("MAX_TOKENS"), ["length"]);
    assert.deepEqual(reason("MAX_TOKENS", called), ["length"]);
    for (const bad of [
      "MALFORMED_FUNCTION_CALL",
      "UNEXPECTED_TOOL_CALL",
      "TOO_MANY_TOOL_CALLS",
      "MISSING_THOUGHT_SIGNATURE",
    ]) {
      assert.deepEqual(reason(bad), ["server_error", true]);
      assert.deepEqual(reason(bad, called), ["server_error", true]);
    }
    const filtered = [
      "SAFETY",
      "RECITATION",
      "BLOCKLIST",
      "PROHIBITED_CONTENT",
      "SPII",
      "LANGUAGE",
      "IMAGE_SAFETY",
    ];
    for (const bad of [...filtered, "IMAGE_OTHER"])
      assert.deepEqual(reason(bad, ...text("Hello")), ["content_filtered", false]);
    for (const other of ["OTHER", "HOLOGRAM"]) {
      assert.deepEqual(reason(other, ...text("Hello")), ["stop"]);
      assert.deepEqual(reason(other, called), ["unexpected_response", false]);
      assert.deepEqual(reason(other), ["empty_response", true]);
    }
    assert.deepEqual(ending(answer(...text("Hello"), end("stop"))), ["stop", "stop", undefined]);
  });
});

describe("in the parts of an answer, the generateContent wire reads", () => {
  // Q205
  it("thoughts by their mark and not by their signature", () => {
    const message = answer(
      parts({ text: "h", thought: true }),
      parts({ text: "m", thought: true }, { text: "Hel" }),
      parts({ text: "lo", thought: false }),
      end(),
    );
    assert.deepEqual(message.content, [{ type: "thinking", thinking: "hm" }, ...said]);
  });

  // Q205
  it("a signed part as a separate part, not joined to its neighbours", () => {
    const message = answer(
      parts({ text: "h", thought: true }),
      parts({ text: "m", thought: true, thoughtSignature: "S1" }),
      ...text("Hel", "lo"),
      parts({ text: " there", thoughtSignature: "S2" }),
      ...text("!"),
      end(),
    );
    assert.deepEqual(message.content, [
      { type: "thinking", thinking: "h" },
      { type: "thinking", thinking: "m", thinkingSignature: "S1" },
      ...said,
      { type: "text", text: " there", textSignature: "S2" },
      { type: "text", text: "!" },
    ]);
  });

  // Q205
  it("signatures on empty text, on blank text, on nothing and on an empty thought", () => {
    const message = answer(
      ...text("Hello"),
      parts({ text: "", thoughtSignature: "S1" }, { thoughtSignature: "S2" }),
      parts({ text: "", thought: true, thoughtSignature: "S3" }),
      parts({ text: "\n", thoughtSignature: "S4" }),
      end(),
    );
    assert.deepEqual(message.content, [
      ...said,
      opaque({ text: "", thoughtSignature: "S1" }),
      opaque({ text: "", thoughtSignature: "S2" }),
      opaque({ thought: true, text: "", thoughtSignature: "S3" }),
      { type: "text", text: "\n" },
      opaque({ text: "", thoughtSignature: "S4" }),
    ]);
    assert.equal(message.stopReason, "stop");
  });

  it("code, its result, images and unknown parts whole, between the other parts", () => {
    const raws = [
      { executableCode: { language: "PYTHON", code: "1" }, thoughtSignature: "S" },
      { codeExecutionResult: { outcome: "OUTCOME_OK", output: "1" } },
      { inlineData: { mimeType: "image/png", data: "aGk=" } },
      { text: "", hologram: { depth: 3 } },
    ];
    const message = answer(...text("I run."), parts(...raws), ...text("Hello"), end());
    assert.deepEqual(message.content, [
      { type: "text", text: "I run." },
      ...raws.slice(0, 2).map(opaque),
      opaque({ inlineData: { mimeType: "image/png", data: "" } }),
      { type: "image", data: "aGk=", mimeType: "image/png" },
      ...raws.slice(3).map(opaque),
      ...said,
    ]);
    assert.equal(message.stopReason, "stop");
    assert.equal(answer(parts(raws[2] as object), end()).stopReason, "stop");
  });

  it("media without a type or without data as they are, and no image or file of it", () => {
    for (const inlineData of [{ data: "aGk=" }, { mimeType: "image/png" }])
      assert.deepEqual(answer(parts({ inlineData }), end()).content, [opaque({ inlineData })]);
  });

  // Q200, Q201, Q118
  it("calls without an id or with a duplicate one, equal calls twice, and names that were changed", () => {
    const message = answer(
      call({ name: "f", args: { x: 1 } }),
      call({ name: "f", args: { x: 1 } }),
      parts({ functionCall: { id: "a", name: "f" } }, { functionCall: { id: "a", name: "f" } }),
      end(),
    );
    assert.deepEqual(calls(message), [
      ["call_1", "f", { x: 1 }],
      ["call_2", "f", { x: 1 }],
      ["a", "f", {}],
      ["call_3", "f", {}],
    ]);
    const body = sse(
      call({ name: "fs_read_file" }),
      call({ name: "_1st" }),
      call({ name: "made_up" }),
      end(),
    );
    assert.deepEqual(
      calls(read(body, ["fs/read file", "1st"]).message).map((one) => (one as string[])[1]),
      ["fs/read file", "1st", "made_up"],
    );
  });

  // Q202
  it("arguments that are missing, empty, text, or not an object", () => {
    const args = (value: unknown): unknown[] => {
      const [part] = answer(call({ name: "f", args: value }), end()).content;
      assert.ok(part?.type === "toolCall");
      return [part.arguments, part.argumentsText, part.argumentsError !== undefined];
    };
    assert.deepEqual(args(undefined), [{}, "", false]);
    assert.deepEqual(args(null), [{}, "", false]);
    assert.deepEqual(args({}), [{}, "{}", false]);
    assert.deepEqual(args({ a: { b: [1, "ä"] } }), [
      { a: { b: [1, "ä"] } },
      '{"a":{"b":[1,"ä"]}}',
      false,
    ]);
    assert.deepEqual(args('{"a":1}'), [{ a: 1 }, '{"a":1}', false]);
    assert.deepEqual(args([1]), [{}, "[1]", true]);
    assert.deepEqual(calls(answer(call({ args: { x: 1 } }), call({}), end())), [
      ["call_1", "unnamed", { x: 1 }],
    ]);
  });
});
