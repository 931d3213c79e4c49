import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  added,
  answer,
  at,
  call,
  calls,
  completed,
  created,
  done,
  ending,
  functionCall,
  hello,
  incomplete,
  json,
  message,
  opaque,
  piece,
  read,
  reasoning,
  said,
  sse,
  summary,
  text,
} from "./events.ts";

describe("the Responses wire reads", () => {
  it("text, id, the answering model and usage, with cached tokens apart", () => {
    const usage = {
      input_tokens: "15", // of a bridge (Q098)
      input_tokens_details: { cached_tokens: 5, cache_write_tokens: 3 },
      output_tokens: 9,
      output_tokens_details: { reasoning_tokens: 2 },
      total_tokens: 24,
    };
    const answered = answer(
      created({ id: "resp_1", model: "m-2026", usage: null }),
      { type: "response.in_progress", response: { id: "resp_1", status: "in_progress" } },
      ...text(0, "Hel", "", "lo"),
      completed({ usage }),
    );
    assert.deepEqual(answered.content, said);
    assert.deepEqual(
      [answered.responseId, answered.responseModel, ...ending(answered)],
      ["resp_1", "m-2026", "stop", "completed", undefined],
    );
    assert.deepEqual(answered.usage, {
      input: 7,
      output: 9,
      cacheRead: 5,
      cacheWrite: 3,
      reasoning: 2,
      totalTokens: 24,
    });
  });

  it("a whole turn as the expected events, in order", () => {
    const { events } = read(
      sse(
        created(),
        added(0, reasoning()),
        summary(0, 0, "hm"),
        done(0, reasoning(["hm"], { encrypted_content: "E" })),
        ...text(1, "I look."),
        ...call(2, "call_1", '{"x":', "1}"),
        completed(),
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
        "toolcall_delta 2",
        "toolcall_end 2",
        "done",
      ],
    );
  });

  // Q191
  it("events by the type in the JSON, or by their name if there is none", () => {
    const events = [...hello, completed()] as { type: string }[];
    const named = (name: string): string =>
      events.map((event) => `event: ${name}\ndata: ${JSON.stringify(event)}\n\n`).join("");
    assert.deepEqual(read(named("message")).message.content, said);
    assert.deepEqual(
      read(sse(...events.map((event) => JSON.stringify(event)))).message.content,
      said,
    );
    const untyped = events
      .map(({ type, ...rest }) => `event: ${type}\ndata: ${JSON.stringify(rest)}\n\n`)
      .join("");
    assert.deepEqual(read(untyped).message.content, said);
  });

  // Q017, Q188, Q190
  it("[DONE], keep-alives, unknown events and obfuscation as nothing", () => {
    const answered = answer(
      created(),
      "[DONE]",
      { type: "keepalive" },
      { type: "response.future.thing", output_index: 0, delta: "?" },
      added(0, message("")),
      at(0, "output_text.delta", { delta: "Hello", obfuscation: "x7", logprobs: [] }),
      at(0, "hologram_call.completed"),
      completed(),
      "[DONE]",
    );
    assert.deepEqual([answered.content, answered.stopReason], [said, "stop"]);
  });

  // Q179
  it("the end of the answer in an event, and an end without one as a truncation", () => {
    assert.deepEqual(ending(answer(...hello, completed())), ["stop", "completed", undefined]);
    assert.deepEqual(ending(answer(...hello, { type: "response.done", response: {} })), [
      "stop",
      "completed",
      undefined,
    ]);
    for (const stream of [
      hello,
      [...hello, "[DONE]"],
      [created(), ...call(0, "a", "{}")],
      [created()],
    ]) {
      const cutOff = answer(...stream);
      assert.deepEqual(
        [...ending(cutOff), cutOff.error?.retryable],
        ["error", undefined, "stream_truncated", true],
      );
    }
  });

  // Q180
  it("an error in the stream, flat or nested, as a typed error, keeping the partial answer", () => {
    const fields = { code: "rate_limit_exceeded", message: "Slow down", param: null };
    const expected = {
      code: "rate_limited",
      message: "The server reported an error in the stream: Slow down",
      status: 429,
      retryable: true,
    };
    for (const error of [
      { type: "error", ...fields },
      { type: "error", error: fields },
      { error: fields },
    ]) {
      const late = answer(...hello, error);
      assert.deepEqual([late.content, late.error], [said, expected]);
      assert.deepEqual(answer(error).error, expected);
      assert.deepEqual(read(JSON.stringify(error)).message.error, expected); // Q019
    }
  });

  // Q181
  it("each code of a failed response as its error", () => {
    const failed = (error: unknown, status = "failed"): unknown[] => {
      const answered = answer(...hello, { type: "response.failed", response: { status, error } });
      assert.deepEqual(answered.content, said);
      return [answered.error?.code, answered.error?.retryable, answered.rawStopReason];
    };
    assert.deepEqual(failed({ code: "server_error", message: "x" }), [
      "server_error",
      true,
      "failed",
    ]);
    assert.deepEqual(failed({ code: "rate_limit_exceeded", message: "x" }), [
      "rate_limited",
      true,
      "failed",
    ]);
    assert.deepEqual(failed({ code: "insufficient_quota", message: "x" }), [
      "quota_exceeded",
      false,
      "failed",
    ]);
    assert.deepEqual(failed({ code: "context_length_exceeded", message: "x" }), [
      "context_overflow",
      false,
      "failed",
    ]);
    assert.deepEqual(failed({ code: "invalid_prompt", message: "x" }), [
      "invalid_request",
      false,
      "failed",
    ]);
    assert.deepEqual(failed({ code: "image_too_large", message: "x" }), [
      "invalid_request",
      false,
      "failed",
    ]);
    assert.deepEqual(failed({ code: "new_code", message: "x" }), ["server_error", true, "failed"]);
    assert.deepEqual(failed(null), ["server_error", true, "failed"]);
    assert.deepEqual(failed(null, "cancelled"), ["server_error", true, "cancelled"]);
  });

  // Q182
  it('an answer cut by the limit as "length", and one stopped by a filter as an error', () => {
    const cutOff = answer(...hello, incomplete("max_output_tokens"));
    assert.deepEqual(
      [cutOff.content, ...ending(cutOff)],
      [said, "length", "max_output_tokens", undefined],
    );
    assert.deepEqual(ending(answer(...hello, incomplete(undefined))), [
      "length",
      "incomplete",
      undefined,
    ]);
    const inName = { type: "response.completed", response: { status: "incomplete" } };
    assert.deepEqual(ending(answer(...hello, inName)), ["length", "incomplete", undefined]);
    const filtered = answer(...hello, incomplete("content_filter"));
    assert.deepEqual(
      [filtered.content, ...ending(filtered)],
      [said, "error", "content_filter", "content_filtered"],
    );
  });

  // Q182
  it("a cut call as one that does not run", () => {
    const partial = answer(
      created(),
      added(0, functionCall("a")),
      json(0, '{"city":"Os'),
      incomplete("max_output_tokens"),
    );
    assert.ok(
      partial.content[0]?.type === "toolCall" && partial.content[0].argumentsError !== undefined,
    );
    assert.equal(partial.stopReason, "length");
    const valid = functionCall("a", "{}", { status: "incomplete" });
    assert.equal(
      answer(created(), ...call(1, "b", "{}"), done(0, valid), completed()).stopReason,
      "length",
    );
    assert.equal(
      answer(created(), added(0, functionCall("a")), completed({ output: [valid] })).stopReason,
      "length",
    );
    // A program on the server may make calls while it is still running.
    const running = functionCall("a", "{}", { status: "in_progress" });
    assert.equal(answer(created(), done(0, running), completed()).stopReason, "toolUse");
  });

  // Q198
  it("a refusal as an error with its text", () => {
    const refusal = "No.";
    const streamed = [
      added(0, message("")),
      at(0, "content_part.added", { part: { type: "refusal", refusal: "" } }),
      at(0, "refusal.delta", { delta: "N" }),
      at(0, "refusal.delta", { delta: "o." }),
      at(0, "refusal.done", { refusal }),
    ];
    const item = { type: "message", content: [{ type: "refusal", refusal }] };
    for (const events of [streamed, [...streamed, done(0, item)], [done(0, item)], []]) {
      const answered = answer(created(), ...events, completed({ output: [item] }));
      assert.deepEqual(ending(answered), ["error", "completed", "refusal"]);
      assert.deepEqual(answered.content, [{ type: "text", text: refusal }]);
    }
  });

  it("no content as an empty response, also after empty items", () => {
    const empty = answer(created(), completed());
    assert.deepEqual([empty.error?.code, empty.error?.retryable], ["empty_response", true]);
    assert.equal(
      answer(created(), ...text(0), ...text(1, ""), completed()).error?.code,
      "empty_response",
    );
    assert.equal(
      answer(created(), added(0, reasoning()), completed()).error?.code,
      "empty_response",
    );
  });

  it("a second answer in the stream as corruption, and a repetition of the first as nothing", () => {
    assert.deepEqual(answer(created(), ...hello, completed()).content, said);
    const { error } = answer(...hello, created({ id: "resp_2" }), ...text(1, "Hi"), completed());
    assert.deepEqual([error?.code, error?.retryable], ["stream_corrupt", true]);
  });

  // Q192
  it("chat chunks as a wrong address, in a stream and in one object", () => {
    const chunk = {
      id: "c",
      object: "chat.completion.chunk",
      choices: [{ index: 0, delta: { content: "Hi" } }],
    };
    for (const body of [
      sse(JSON.stringify(chunk)),
      JSON.stringify({ object: "chat.completion", choices: [] }),
    ]) {
      const { error } = read(body).message;
      assert.deepEqual([error?.code, error?.retryable], ["unexpected_response", false]);
      assert.match(error?.message ?? "", /Chat Completions.*openai-chat/);
    }
  });

  // Q018
  it("a whole answer in one JSON object", () => {
    const output = [
      reasoning(["hm"], { encrypted_content: "E" }),
      message("Hello"),
      functionCall("a", '{"x":1}'),
    ];
    const response = { object: "response", id: "resp_1", status: "completed", error: null, output };
    const answered = read(JSON.stringify(response)).message;
    assert.deepEqual(answered.content[1], said[0]);
    assert.deepEqual(
      [calls(answered), answered.stopReason, answered.responseId],
      [[["a", "f", { x: 1 }]], "toolUse", "resp_1"],
    );
    const limited = {
      ...response,
      status: "incomplete",
      incomplete_details: { reason: "max_output_tokens" },
    };
    assert.equal(read(JSON.stringify(limited)).message.stopReason, "length");
    const failed = { ...response, status: "failed", error: { code: "server_error", message: "x" } };
    assert.equal(read(JSON.stringify(failed)).message.error?.code, "server_error");
    assert.equal(
      read(JSON.stringify({ ...response, status: "queued" })).message.error?.code,
      "stream_truncated",
    );
  });
});

describe("the output of the final response", () => {
  // Q184
  it("is used if nothing was streamed", () => {
    const search = { type: "web_search_call", id: "ws_1", status: "completed" };
    const output = [
      reasoning([], { encrypted_content: "E" }),
      search,
      message("Hello"),
      functionCall("a", "{}"),
    ];
    const answered = answer(created(), completed({ output }));
    assert.deepEqual(answered.content.slice(1, 3), [opaque(search), ...said]);
    assert.deepEqual([calls(answered), answered.stopReason], [[["a", "f", {}]], "toolUse"]);
  });

  // Q183
  it("does not repeat streamed items, and may be missing", () => {
    for (const output of [[message("Hello", { id: "msg_9" })], [], null, undefined])
      assert.deepEqual(answer(...hello, completed({ output })).content, said);
    const answered = answer(
      created(),
      ...call(0, "a", "{}"),
      completed({ output: [functionCall("other", "{}")] }),
    );
    assert.deepEqual(calls(answered), [["a", "f", {}]]);
  });

  it("adds the calls or the text of a server that streams only the other", () => {
    const both = [message("Hello"), functionCall("a", '{"x":1}')];
    const callsLate = answer(...hello, completed({ output: both }));
    assert.deepEqual([callsLate.content[0], calls(callsLate)], [said[0], [["a", "f", { x: 1 }]]]);
    assert.equal(callsLate.stopReason, "toolUse");
    assert.deepEqual(
      answer(created(), ...call(0, "a", "{}"), completed({ output: both })).content[1],
      said[0],
    );
  });

  it("completes unfinished items, matched by id or by place", () => {
    const started = [
      created(),
      added(0, functionCall("a", "", { id: "fc_1" })),
      added(1, { type: "hologram" }),
    ];
    const output = [{ type: "hologram", depth: 3 }, functionCall("a", '{"x":1}', { id: "fc_1" })];
    assert.deepEqual(calls(answer(...started, completed({ output }))), [["a", "f", { x: 1 }]]);
    const placed = [
      functionCall("b", '{"x":2}', { id: "rotated" }),
      { type: "hologram", depth: 3 },
    ];
    const answered = answer(...started, completed({ output: placed }));
    assert.deepEqual(
      [calls(answered), answered.content[1]],
      [[["a", "f", { x: 2 }]], opaque({ type: "hologram", depth: 3 })],
    );
  });
});

describe("in messages of servers that deviate, the Responses wire reads", () => {
  // Q185, Q189
  it("text without any event before it, and text only at its end", () => {
    const textDone = at(0, "output_text.done", { content_index: 0, text: "Hello" });
    const partDone = at(0, "content_part.done", { part: { type: "output_text", text: "Hello" } });
    for (const events of [
      [piece(0, "Hel"), piece(0, "lo")],
      [piece(undefined, "Hel"), piece(undefined, "lo")],
      [piece(0, "Hel"), textDone],
      [textDone],
      [partDone],
      [done(0, message("Hello"))],
      [done(undefined, message("Hello"))],
      [
        added(undefined, message("", { id: null })),
        piece(undefined, "Hel"),
        done(undefined, message("Hello")),
      ],
      [piece(0, "Hel"), done(0, message("Hello"))],
      [piece(0, "Hel"), added(0, message("")), piece(0, "lo"), textDone, partDone],
      [added(0, message("Hello"))],
    ])
      assert.deepEqual(answer(created(), ...events, completed()).content, said);
  });

  it("the streamed text rather than a different one at the end", () => {
    assert.deepEqual(
      answer(created(), piece(0, "Hello"), done(0, message("Bye")), completed()).content,
      said,
    );
    assert.deepEqual(answer(...hello, piece(0, " late"), completed()).content, said);
  });

  // Q187
  it("ids that change with each event, by their place", () => {
    let n = 0;
    const rotated = (event: object): object => ({ ...event, item_id: `blob+${++n}` });
    const answered = answer(
      created({ id: "a" }),
      added(0, { ...reasoning(), id: "b" }),
      rotated(summary(0, 0, "hm")),
      done(0, { ...reasoning(["hm"]), id: "c" }),
      added(1, message("", { id: "d" })),
      rotated(piece(1, "Hel")),
      rotated(piece(1, "lo")),
      done(1, message("Hello", { id: "e" })),
      added(2, functionCall("call_1", "", { id: "f" })),
      rotated(json(2, '{"x":1}')),
      done(2, functionCall("call_1", '{"x":1}', { id: "g" })),
      completed({ id: "h", output: [] }),
    );
    assert.deepEqual(answered.content.slice(0, 2), [
      { type: "thinking", thinking: "hm", field: "summary_text" },
      ...said,
    ]);
    assert.deepEqual([calls(answered), answered.responseId], [[["call_1", "f", { x: 1 }]], "a"]);
  });

  it("items by id, if places are missing or always the same", () => {
    const byId = (id: string, event: object): object => ({ ...event, item_id: id });
    const interleaved = answer(
      created(),
      added(undefined, message("", { id: "m1" })),
      added(undefined, functionCall("a", "", { id: "f1" })),
      byId("m1", piece(undefined, "Hel")),
      byId("f1", json(undefined, '{"x":1}')),
      byId("m1", piece(undefined, "lo")),
      done(undefined, functionCall("a", '{"x":1}', { id: "f1" })),
      done(undefined, message("Hello", { id: "m1" })),
      completed(),
    );
    assert.deepEqual([interleaved.content.length, calls(interleaved)], [2, [["a", "f", { x: 1 }]]]);
    const uncounted = [
      message("Hello", { id: "m1" }),
      functionCall("a", "{}"),
      functionCall("b", "{}"),
    ];
    const answered = answer(
      created(),
      ...uncounted.flatMap((item) => [
        added(0, { ...item, content: [], arguments: "" }),
        done(0, item),
        done(0, item),
      ]),
      completed(),
    );
    assert.deepEqual(
      [answered.content.length, calls(answered)],
      [
        3,
        [
          ["a", "f", {}],
          ["b", "f", {}],
        ],
      ],
    );
  });

  it("several texts of one message, and several messages, each a part with id, phase and citations", () => {
    const annotation = { type: "url_citation", url: "u", start_index: 0, end_index: 1 };
    const content = [
      { type: "output_text", text: "Hello", annotations: [annotation] },
      { type: "output_text", text: "there", annotations: [] },
    ];
    const answered = answer(
      created(),
      added(0, message("", { id: "msg_1", phase: "commentary" })),
      piece(0, "Hel"),
      piece(0, "there", 1),
      piece(0, "lo"),
      done(0, { ...message("", { id: "msg_1", phase: "commentary" }), content }),
      added(1, message("", { id: "msg_2" })),
      piece(1, "Hello"),
      at(1, "output_text.annotation.added", { content_index: 0, annotation }),
      at(1, "output_text.annotation.added", { content_index: 0, annotation }),
      completed(),
    );
    const signed = (words: string, fields: object): object => ({
      type: "text",
      text: words,
      textSignature: JSON.stringify(fields),
    });
    const source = (textIndex: number): object => ({ type: "source", name: "u", textIndex });
    assert.deepEqual(answered.content, [
      signed("Hello", { id: "msg_1", phase: "commentary", annotations: [annotation] }),
      signed("there", { id: "msg_1", phase: "commentary" }),
      source(0),
      signed("Hello", { id: "msg_2", annotations: [annotation, annotation] }),
      source(3),
      source(3),
    ]);
  });
});

describe("in reasoning of servers that deviate, the Responses wire reads", () => {
  const thought = (fields: object): object => ({
    type: "thinking",
    field: "summary_text",
    ...fields,
  });

  it("summaries in sections, each repeated at its end", () => {
    const section = (index: number, ...pieces: string[]): object[] => [
      at(0, "reasoning_summary_part.added", {
        summary_index: index,
        part: { type: "summary_text", text: "" },
      }),
      ...pieces.map((delta) => summary(0, index, delta)),
      at(0, "reasoning_summary_text.done", { summary_index: index, text: pieces.join("") }),
      at(0, "reasoning_summary_part.done", {
        summary_index: index,
        part: { text: pieces.join("") },
      }),
    ];
    const item = reasoning(["One two", "Three"], { id: "rs_1", encrypted_content: "E" });
    const expected = thought({
      thinking: "One two\n\nThree",
      thinkingSignature: JSON.stringify({ id: "rs_1", encrypted_content: "E" }),
    });
    const start = added(0, reasoning([], { id: "rs_1", encrypted_content: "early" }));
    const sections = [...section(0, "One ", "two"), ...section(1, "Three")];
    for (const events of [
      [start, ...sections, done(0, item)],
      [...sections, done(0, item)],
      [start, ...section(0, "One ", "two"), done(0, item)],
      [
        start,
        at(0, "reasoning_summary_text.done", { summary_index: 0, text: "One two" }),
        done(0, item),
      ],
      [done(0, item)],
    ])
      assert.deepEqual(answer(created(), ...events, ...text(1, "Hello"), completed()).content, [
        expected,
        ...said,
      ]);
  });

  it("raw thoughts under their own name, and the first of the two if a summary follows", () => {
    const content = [{ type: "reasoning_text", text: "hm hm" }];
    const streamed = [
      at(0, "reasoning_text.delta", { content_index: 0, delta: "hm " }),
      at(0, "reasoning_text.delta", { content_index: 0, delta: "hm" }),
      at(0, "reasoning_text.done", { content_index: 0, text: "hm hm" }),
    ];
    const item = { ...reasoning(), content };
    for (const events of [
      streamed,
      [added(0, reasoning()), ...streamed, done(0, item)],
      [done(0, item)],
      [...streamed, summary(0, 0, "in short"), done(0, { ...reasoning(["in short"]), content })],
    ])
      assert.deepEqual(answer(created(), ...events, completed()).content, [
        { type: "thinking", thinking: "hm hm", field: "reasoning_text" },
      ]);
  });

  it("encrypted reasoning in its place, and cut reasoning without a signature", () => {
    const item = reasoning([], { id: "rs_1", encrypted_content: "E" });
    const encrypted = thought({
      thinking: "",
      thinkingSignature: JSON.stringify({ id: "rs_1", encrypted_content: "E" }),
      redacted: true,
    });
    const answered = answer(
      created(),
      added(0, reasoning()),
      done(0, item),
      ...text(1, "Hello"),
      completed(),
    );
    assert.deepEqual(answered.content, [encrypted, ...said]);
    const late = answer(
      created(),
      added(0, reasoning()),
      ...text(1, "Hello"),
      done(0, item),
      completed(),
    );
    assert.deepEqual([late.content[0]?.type, late.content[1]], ["thinking", said[0]]);
    assert.deepEqual(
      answer(created(), summary(0, 0, "hm"), incomplete("max_output_tokens")).content,
      [thought({ thinking: "hm" })],
    );
  });
});
