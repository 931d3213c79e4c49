/**
 * Return values of a tool's function: plain values, progress, and values that cannot be a result.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { defineTool, type AgentTool, type ToolReturn } from "../../src/agent/index.ts";
import { messageText } from "../../src/llm/message.ts";
import { isBowlineError } from "../../src/errors.ts";
import { call, rig, type Rig } from "../support.ts";
import { deferred } from "../../../../test/support/deferred.ts";

const giving = (execute: () => ToolReturn): AgentTool =>
  defineTool({
    name: "a",
    description: "Gives it.",
    parameters: { type: "object", properties: {} },
    execute,
  }) as AgentTool;

/** The result of a tool made by defineTool, and of the same function as a plain tool. */
async function resultsOf(
  execute: () => ToolReturn,
): Promise<(Rig & { text: string; isError: boolean })[]> {
  const defined = giving(execute);
  const all = [];
  for (const tool of [defined, { ...defined, execute: execute as never }]) {
    const set = rig([call("a"), "Done."], [tool]);
    const { messages } = await set.agent.prompt("Hi");
    const result = messages.find(({ role }) => role === "toolResult");
    assert.ok(result?.role === "toolResult");
    all.push({ ...set, text: messageText(result), isError: result.isError });
  }
  return all;
}

class Boat {
  readonly name = "Ida";
  #secret = 1;
  get secret(): number {
    return this.#secret;
  }
}

const cycle: { self?: unknown } = {};
cycle.self = cycle;

describe("the value that a tool returns", () => {
  it("becomes the text of its result if it is a string, and JSON if it is another plain value", async () => {
    const values: [unknown, string][] = [
      ["Fog.", "Fog."],
      ["", ""],
      [5, "5"],
      [false, "false"],
      [null, "null"],
      [undefined, ""],
      [["text", 1], '["text",1]'],
      [{ temp: 3 }, '{"temp":3}'],
      [{ temp: 3, details: 1 }, '{"temp":3,"details":1}'],
      [{ content: "text", size: 4 }, '{"content":"text","size":4}'],
      [Object.assign(Object.create(null) as object, { a: 1 }), '{"a":1}'],
      [new Boat(), '{"name":"Ida"}'],
      [new Date(0), '"1970-01-01T00:00:00.000Z"'],
      [{ at: new URL("https://a.test/b"), left: undefined }, '{"at":"https://a.test/b"}'],
      [{ content: [{ type: "text", text: "Whole." }] }, "Whole."],
      [{ content: [{ type: "text", text: "Whole." }], size: 4 }, "Whole."],
      [Object.assign(new Boat(), { content: [{ type: "text", text: "Whole." }] }), "Whole."],
      [{}, ""],
    ];
    for (const [value, text] of values)
      for (const result of await resultsOf(() => value as object))
        assert.deepEqual([result.text, result.isError], [text, false]);
  });

  it("fails the call if JSON cannot represent it, and names the value", async () => {
    const values: [unknown, RegExp][] = [
      [new Response("text"), /returned a Response/],
      [new Map([[1, 2]]), /returned a Map/],
      [new Error("No."), /returned an Error/],
      [Object.assign(new TypeError("No."), { code: 5 }), /returned a TypeError/],
      [new Uint8Array(3), /returned an? Uint8Array/],
      [new ArrayBuffer(3), /returned an ArrayBuffer/],
      [new ReadableStream(), /returned a ReadableStream/],
      [(function* () {})(), /returned an? object|Generator/],
      [() => 1, /returned a function/],
      [5n, /returned a bigint/],
      [Number.NaN, /returned NaN/],
      [{ rows: [new Set([1])] }, /returned a Set/],
      [cycle, /circular/i],
      [nested(100_000), /nested too deep/],
    ];
    for (const [value, why] of values)
      for (const { text, isError, agent } of await resultsOf(() => value as object)) {
        assert.deepEqual([isError, agent.state.messages.length], [true, 4]);
        assert.match(text, why);
        assert.doesNotMatch(text, /\n/);
      }
  });

  it("rejects with invalid_argument if the tool is called directly", async () => {
    const executed = giving(() => new Map()).execute("id", {});
    await assert.rejects(
      async () => executed,
      (error) => isBowlineError(error) && error.code === "invalid_argument",
    );
  });
});

describe("a tool that is a generator", () => {
  it("emits yielded values as progress, and returns its result", async () => {
    const steps = async function* (): AsyncGenerator<string | object, string> {
      yield "Casting off.";
      yield { miles: 2 };
      return "There.";
    };
    for (const { text, events } of await resultsOf(steps)) {
      const told = events.flatMap((event) =>
        event.type === "tool_execution_update" ? [event.partialResult.content] : [],
      );
      assert.deepEqual(told, [
        [{ type: "text", text: "Casting off." }],
        [{ type: "text", text: '{"miles":2}' }],
      ]);
      assert.equal(text, "There.");
    }
  });

  it("returns the last yielded value if it returns nothing, and an empty result if it yields nothing", async () => {
    const two = async function* (): AsyncGenerator<string, void> {
      yield "One.";
      yield "Two.";
    };
    for (const { text } of await resultsOf(two)) assert.equal(text, "Two.");
    const none = async function* (): AsyncGenerator<string, void> {};
    for (const { text, isError } of await resultsOf(none))
      assert.deepEqual([text, isError], ["", false]);
  });

  it("fails if it throws or yields an unsupported value, and is closed", async () => {
    let closed = 0;
    const bad = async function* (): AsyncGenerator<object, void> {
      try {
        yield new Map();
      } finally {
        closed++;
      }
    };
    for (const { text, isError } of await resultsOf(bad))
      assert.deepEqual([/a Map/.test(text), isError], [true, true]);
    assert.equal(closed, 2);
    const throwing = async function* (): AsyncGenerator<string, void> {
      yield "One.";
      throw new Error("Aground.");
    };
    for (const { text, isError } of await resultsOf(throwing))
      assert.deepEqual([text, isError], ["Aground.", true]);
  });

  it("is stopped at its next value after an abort, and closed", async () => {
    const begun = deferred();
    const go = deferred();
    let isClosed = false;
    const set = rig(
      [call("a"), "never"],
      [
        giving(async function* () {
          try {
            begun.resolve();
            await go.promise;
            yield "late";
            yield "never";
          } finally {
            isClosed = true;
          }
        }),
      ],
    );
    const running = set.agent.prompt("Hi");
    await begun.promise;
    set.agent.abort();
    go.resolve();
    const { tools } = await running;
    assert.deepEqual([tools[0]?.outcome, isClosed], ["stopped", true]);
    assert.ok(set.events.every(({ type }) => type !== "tool_execution_update"));
  });
});

function nested(depth: number): object {
  let value: object = {};
  for (let level = 0; level < depth; level++) value = { value };
  return value;
}
