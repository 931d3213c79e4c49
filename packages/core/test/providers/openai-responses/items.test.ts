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
  functionCall,
  json,
  jsonDone,
  opaque,
  piece,
  read,
  reasoning,
  said,
  sse,
  text,
} from "./events.ts";

describe("from servers that deviate, the Responses wire reads calls with", () => {
  // Q185, Q186
  it("arguments streamed, repeated, only at the end, or in the start event", () => {
    const start = added(0, functionCall("a"));
    const whole = '{"x":1}';
    for (const events of [
      [start, json(0, whole), jsonDone(0, whole)],
      [start, jsonDone(0, whole)],
      [start, done(0, functionCall("a", whole))],
      [start, jsonDone(0, { x: 1 })],
      [start, json(0, whole), done(0, functionCall("a", ""))],
      [start, json(0, whole), done(0, functionCall("a", null))],
      [added(0, functionCall("a", "{}")), json(0, whole), done(0, functionCall("a", ""))],
      [added(0, functionCall("a", whole)), done(0, functionCall("a", ""))],
      [done(0, functionCall("a", whole))],
      [done(0, functionCall("a", { x: 1 }))],
      [added(0, functionCall("a", whole))],
      [
        json(0, '{"x":'),
        added(0, functionCall("a")),
        json(0, "1}"),
        done(0, functionCall("a", whole)),
      ],
      [json(undefined, whole), done(undefined, functionCall("a", whole))],
    ]) {
      const answered = answer(created(), ...events, completed());
      assert.deepEqual([calls(answered), answered.stopReason], [[["a", "f", { x: 1 }]], "toolUse"]);
    }
  });

  it("no arguments at all, which do not run", () => {
    const bare = functionCall("a", "", { arguments: undefined });
    const { stopReason, error } = answer(created(), added(0, bare), done(0, bare), completed());
    assert.deepEqual([stopReason, error?.code], ["error", "stream_corrupt"]);
    assert.match(error?.message ?? "", /no arguments for one of them/);
  });

  it("a tool of the server that ends at once, without a report that it runs", () => {
    for (const word of ["completed", "failed"]) {
      const item = { type: "web_search_call", id: "ws_1" };
      const { events } = read(
        sse(
          created(),
          added(0, item),
          at(0, `web_search_call.${word}`, { item_id: "ws_1" }),
          done(0, { ...item, status: word }),
          completed(),
        ),
      );
      assert.deepEqual(
        events.flatMap((event) => (event.type === "provider_tool" ? [event.status] : [])),
        ["started", word],
      );
    }
  });

  it("unfinished arguments, which run only if the complete answer repeats them", () => {
    const whole = '{"x":1}';
    for (const events of [
      [added(0, functionCall("a")), json(0, '{"x"'), json(0, ":1}")],
      [added(0, functionCall("a", "{}")), json(0, whole)],
      [json(0, whole), added(0, functionCall("a"))],
    ]) {
      const answered = answer(
        created(),
        ...events,
        completed({ output: [functionCall("a", whole)] }),
      );
      assert.deepEqual([calls(answered), answered.stopReason], [[["a", "f", { x: 1 }]], "toolUse"]);
      assert.equal(answer(created(), ...events, completed()).error?.code, "stream_corrupt");
    }
  });

  // Q188
  it("the final arguments rather than deltas that differ", () => {
    const answered = answer(
      created(),
      added(0, functionCall("a")),
      json(0, "encrypted"),
      jsonDone(0, '{"x":1}'),
      done(0, functionCall("a", '{"x":2}')),
      completed(),
    );
    const [part] = answered.content;
    assert.deepEqual(calls(answered), [["a", "f", { x: 2 }]]);
    assert.equal(part?.type === "toolCall" && part.argumentsText, '{"x":2}');
    const shorter = answer(
      created(),
      added(0, functionCall("a")),
      json(0, "encrypted"),
      jsonDone(0, "{}"),
      completed(),
    );
    assert.deepEqual(calls(shorter), [["a", "f", {}]]);
  });

  it("missing arguments as empty, and anything but a JSON object as unusable", () => {
    assert.deepEqual(calls(answer(created(), ...call(0, "a"), completed())), [["a", "f", {}]]);
    const [part] = answer(created(), ...call(0, "a", '{"x":'), completed()).content;
    assert.ok(part?.type === "toolCall" && part.argumentsError !== undefined);
  });

  it("other calls beside them, in the order in which they began", () => {
    const answered = answer(
      created(),
      added(0, functionCall("a")),
      added(1, functionCall("b")),
      json(1, '{"x":'),
      json(0, '{"y":1}'),
      json(1, "2}"),
      done(1, functionCall("b", '{"x":2}')),
      done(0, functionCall("a", '{"y":1}')),
      completed(),
    );
    assert.deepEqual(calls(answered), [
      ["a", "f", { y: 1 }],
      ["b", "f", { x: 2 }],
    ]);
  });

  // Q194, Q040
  it("their own id, the item's id if that is empty, and a new one if it is missing or a duplicate", () => {
    const items = [
      functionCall("a"),
      functionCall("call_1"),
      functionCall("", "", { id: "fc_1" }),
      functionCall(undefined),
      functionCall(null, "", { id: "" }),
      functionCall("a"),
    ];
    const answered = answer(
      created(),
      ...items.map((item, index) => done(index, item)),
      completed(),
    );
    assert.deepEqual(
      calls(answered).map((entry) => (entry as unknown[])[0]),
      ["a", "call_1", "fc_1", "call_2", "call_3", "call_4"],
    );
  });

  // Q045, Q118
  it("a name that is late, missing, or was changed by the wire", () => {
    const nameless = functionCall("a", "", { name: "" });
    const late = answer(
      created(),
      added(0, nameless),
      json(0, "{}"),
      ...text(1, "Hello"),
      done(0, functionCall("a", "{}")),
      completed(),
    );
    assert.deepEqual([calls(late), late.content[1]], [[["a", "f", {}]], said[0]]);
    assert.deepEqual(calls(answer(created(), json(0, "{}"), completed())), [
      ["call_1", "unnamed", {}],
    ]);
    assert.deepEqual(calls(answer(created(), jsonDone(0, "{}", { name: "g" }), completed())), [
      ["call_1", "g", {}],
    ]);
    const body = sse(
      created(),
      done(0, functionCall("a", "{}", { name: "fs_read_file" })),
      completed(),
    );
    assert.deepEqual(calls(read(body, ["fs/read file"]).message), [["a", "fs/read file", {}]]);
  });

  it("the item's id, its program and its namespace in the signature", () => {
    const caller = { type: "program", caller_id: "call_0" };
    const signature = (fields: object): unknown => {
      const [part] = answer(
        created(),
        done(0, functionCall("a", "{}", fields)),
        completed(),
      ).content;
      return part?.type === "toolCall" && part.thoughtSignature;
    };
    assert.equal(
      signature({ id: "fc_1", caller, namespace: "n" }),
      JSON.stringify({ id: "fc_1", caller, namespace: "n" }),
    );
    for (const id of ["a", "blob+/==", `fc_${"x".repeat(62)}`, 7, null])
      assert.equal(signature({ id, caller: { type: "direct" }, namespace: null }), undefined);
  });

  // Q199
  it("several calls wrapped in one, unless a tool has that name", () => {
    const uses = [
      { recipient_name: "functions.weather", parameters: { city: "Oslo" } },
      { recipient_name: "time", parameters: {} },
    ];
    const wrapped = (name: string, args: string, tools: string[] = []): unknown[] => {
      const item = functionCall("a", args, { name });
      const events = [
        added(0, functionCall("a", "", { name })),
        json(0, args),
        done(0, item),
        ...text(1, "Hello"),
      ];
      const answered = read(sse(created(), ...events, completed()), tools).message;
      assert.equal(answered.stopReason, "toolUse");
      return calls(answered);
    };
    const args = JSON.stringify({ tool_uses: uses });
    for (const name of ["parallel", "multi_tool_use.parallel", "multi_tool_use_parallel"]) {
      assert.deepEqual(wrapped(name, args), [
        ["a", "weather", { city: "Oslo" }],
        ["call_1", "time", {}],
      ]);
      assert.deepEqual(wrapped(name, args, [name]), [["a", name, { tool_uses: uses }]]);
      for (const odd of ['{"tool_uses":[{}]}', '{"tool_uses":[]}', '{"tool_uses":[null]}', "{}"])
        assert.deepEqual(wrapped(name, odd), [["a", name, JSON.parse(odd)]]);
    }
  });
});

describe("reasoning of the Responses wire", () => {
  const reasoned = (summary: readonly string[], fields: object): unknown =>
    answer(
      created(),
      added(0, reasoning()),
      done(0, reasoning(summary, fields)),
      ...text(1, "Hello"),
      completed(),
    ).content[0];
  const thinking = { type: "thinking", thinking: "", field: "summary_text" };

  it("is redacted if it is encrypted and has no text", () => {
    const encrypted = { id: "rs_1", encrypted_content: "E" };
    const thinkingSignature = JSON.stringify(encrypted);
    assert.deepEqual(reasoned([], encrypted), { ...thinking, thinkingSignature, redacted: true });
    assert.deepEqual(reasoned(["hm"], encrypted), {
      ...thinking,
      thinking: "hm",
      thinkingSignature,
    });
    const plain = { id: "rs_1", encrypted_content: "" };
    assert.deepEqual(reasoned(["hm"], plain), {
      ...thinking,
      thinking: "hm",
      thinkingSignature: JSON.stringify({ id: "rs_1" }),
    });
  });

  it("without text, id and encrypted content has no part", () => {
    assert.deepEqual(reasoned([], {}), said[0]);
  });
});

describe("the provider's own items", () => {
  const search = { type: "web_search_call", id: "ws_1", status: "in_progress" };
  const found = { ...search, status: "completed", action: { query: "x" } };

  // Q190
  it("are kept whole, as they ended, between the other parts", () => {
    const items = [
      found,
      {
        type: "code_interpreter_call",
        id: "ci_1",
        code: "1",
        outputs: [{ type: "logs", logs: "1" }],
      },
      { type: "mcp_call", id: "mcp_1", arguments: "{}", output: "ok" },
      { type: "custom_tool_call", call_id: "c", name: "sql", input: "SELECT" },
      { type: "compaction", id: "cmp_1", encrypted_content: "E" },
      { type: "hologram", depth: { z: 1 } },
    ];
    const answered = answer(
      created(),
      ...text(0, "I search."),
      ...items.flatMap((item, n) => [
        added(n + 1, { type: item.type }),
        at(n + 1, "custom_tool_call_input.delta", { delta: "SEL" }),
        at(n + 1, `${item.type}.completed`),
        done(n + 1, item),
      ]),
      ...text(9, "Hello"),
      completed(),
    );
    assert.deepEqual(answered.content, [
      { type: "text", text: "I search." },
      ...items.map(opaque),
      ...said,
    ]);
    assert.equal(answered.stopReason, "stop");
    assert.deepEqual(answer(created(), done(0, found), completed()).content, [opaque(found)]);
  });

  it("come before items that begin while they are pending", () => {
    const answered = answer(
      created(),
      added(0, search),
      piece(1, "Hel"),
      ...call(2, "a", '{"x":1}'),
      done(0, found),
      piece(1, "lo"),
      completed(),
    );
    assert.deepEqual(answered.content.slice(0, 2), [opaque(found), ...said]);
    assert.deepEqual(calls(answered), [["a", "f", { x: 1 }]]);
  });

  it("keep their place when the server reports them completed and their end follows", () => {
    const searched = [
      created(),
      added(0, search),
      piece(1, "Hel"),
      at(0, "web_search_call.completed"),
    ];
    const answered = answer(...searched, done(0, found), piece(1, "lo"), completed());
    assert.deepEqual(answered.content, [opaque(found), ...said]);
    // If more text comes instead of their end, the text is shown first.
    assert.deepEqual(answer(...searched, piece(1, "lo"), completed()).content, [
      ...said,
      opaque(search),
    ]);
  });

  it("do not delay the text when their end is missing", () => {
    const list = (id: string, tools: unknown[]): object => ({ type: "mcp_list_tools", id, tools });
    const { events, message } = read(
      sse(
        created(),
        added(0, list("mcpl_1", [])),
        added(1, list("mcpl_2", [])),
        at(0, "mcp_list_tools.completed"),
        at(1, "mcp_list_tools.completed"),
        done(1, list("mcpl_2", [2])),
        piece(2, "Hel"),
        piece(2, "lo"),
        completed({ output: [list("mcpl_1", [1]), list("mcpl_2", [2])] }),
      ),
    );
    assert.deepEqual(message.content, [
      ...said,
      opaque(list("mcpl_1", [1])),
      opaque(list("mcpl_2", [2])),
    ]);
    assert.deepEqual(
      events.flatMap(({ type }) => (type === "provider_tool" ? [] : [type])).slice(0, 4),
      ["start", "text_start", "text_delta", "text_delta"],
    );
  });

  it("are kept as they began when no end came, and dropped when the answer broke off", () => {
    assert.deepEqual(answer(created(), added(0, search), completed()).content, [opaque(search)]);
    assert.deepEqual(answer(created(), added(0, search), piece(1, "Hello")).content, []);
  });
});
