/** Streamed arguments (Q203): a path, a value, and whether more of either follows. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import type { ToolCall } from "../../../src/llm/message.ts";
import { googleGenerate } from "../../../src/providers/google-generate/index.ts";
import { answer, call, calls, end, ending, piece, sse, text } from "./events.ts";
import { decode } from "../decode.ts";
import { sweep } from "../../../../../test/support/sweep.ts";

const more = (...partialArgs: object[]): object => call({ partialArgs, willContinue: true });
const last = (...partialArgs: object[]): object => call({ partialArgs });
const begin = (fields: object = {}): object =>
  call({ name: "f", willContinue: true, ...fields }, { thoughtSignature: "S" });
const only = (...chunks: object[]): ToolCall => {
  const { content } = answer(...chunks, end());
  assert.equal(content.length, 1);
  return content[0] as ToolCall;
};
const isRefused = (...chunks: object[]): boolean => only(...chunks).argumentsError !== undefined;

describe("streamed arguments", () => {
  it("grow to the text of one object, with each value in its place", () => {
    const {
      arguments: args,
      argumentsText,
      thoughtSignature,
    } = only(
      begin(),
      more(piece("$.items[0].name", "ap", true)),
      more(piece("$.items[0].name", 'p"le\n', true)),
      more(piece("$.items[0].name", "")),
      more(piece("$.items[0].price", { numberValue: 0.5 }), piece("$.items[1].name", "pear")),
      more(piece("$.fresh", { boolValue: false }), piece("$.note", { nullValue: null })),
      more(
        piece("$.tags", { listValue: ["a"] }),
        piece("$['odd.name\\'s']", { structValue: { z: 1 } }),
      ),
      more(
        piece('$["x"][0][0]', { numberValue: 0 }),
        piece("$.x[0][1]", ""),
        piece("$.__proto__", "p"),
      ),
      call({}),
    );
    assert.equal(
      argumentsText,
      '{"items":[{"name":"app\\"le\\n","price":0.5},{"name":"pear"}],"fresh":false,"note":null,"tags":["a"],' +
        '"odd.name\'s":{"z":1},"x":[[0,""]],"__proto__":"p"}',
    );
    assert.deepEqual([args, thoughtSignature], [JSON.parse(argumentsText), "S"]);
  });

  it("are emitted as deltas", () => {
    const deltas = (chunks: object[]): string =>
      JSON.stringify(
        answer(...chunks).content.map((part) => part.type === "toolCall" && part.argumentsText),
      );
    assert.equal(deltas([begin(), more(piece("$.a", "x", true))]), '["{\\"a\\":\\"x"]');
  });

  it("end with a final part, with or without content, or with the answer if that part is missing", () => {
    for (const chunks of [
      [more(piece("$.a", "x")), call({})],
      [last(piece("$.a", "x"))],
      [more(piece("$.a", "x"))],
      [more(piece("$.a", "x", true), piece("$.a", "")), ...text("")],
      [more(piece("$.a", "x", true)), last(piece("$.a", ""))],
    ]) {
      const message = answer(begin(), ...chunks, end());
      assert.deepEqual(calls(message), [["call_1", "f", { a: "x" }]]);
      assert.deepEqual(
        [...ending(message), "argumentsError" in message.content[0]!],
        ["toolUse", "STOP", undefined, false],
      );
    }
    assert.deepEqual(only(begin()).arguments, {});
    assert.deepEqual(only(begin(), call({}), call({})).arguments, {});
  });

  it("that were cut inside a string are refused, and so are those of a cut answer", () => {
    assert.equal(isRefused(begin(), more(piece("$.command", "rm -rf /", true))), true);
    assert.equal(isRefused(begin(), more(piece("$.command", "rm -rf /", true)), call({})), true);
    const { content } = answer(begin(), more(piece("$.command", "rm -rf /")));
    assert.equal(content[0]?.type === "toolCall" && content[0].argumentsError !== undefined, true);
  });

  it("with invalid, repeated or skipped paths are refused, because models write wrong paths", () => {
    const refused: [string, object[]][] = [
      ["a value twice", [piece("$.a", "x"), piece("$.a", "y")]],
      ["an item twice", [piece("$.a[0].b", "x"), piece("$.a[0].b", "y")]],
      ["an object that was closed", [piece("$.a.b", "x"), piece("$.c", "y"), piece("$.a.d", "z")]],
      ["an item that was skipped", [piece("$.a[1]", "x")]],
      ["a name in an array", [piece("$.a[0]", "x"), piece("$.a.b", "y")]],
      ["an index in an object", [piece("$.a.b", "x"), piece("$.a[1]", "y")]],
      [
        "an item within the string before it",
        [piece("$.a[0]", "x", true), piece("$.a[1]", { numberValue: 1 }), piece("$.a[0]", "y")],
      ],
      ["a path into a string", [piece("$.a", "x"), piece("$.a.b", "y")]],
      ["an array at the root", [piece("$[0]", "x")]],
      ["no path", [piece("", "x")]],
      ["the root", [piece("$", "x")]],
      ["a wildcard", [piece("$.a[*]", "x")]],
      ["no value", [piece("$.a", {})]],
      [
        "a string that became a number",
        [piece("$.a", "x", true), piece("$.a", { numberValue: 1 })],
      ],
    ];
    for (const [what, pieces] of refused) {
      assert.equal(isRefused(begin(), more(...pieces), call({})), true, what);
      assert.equal(
        isRefused(begin(), more(...pieces), more(piece("$.fine", "z")), call({})),
        true,
        what,
      );
    }
  });

  it("that do not fit together fail the answer, so that no other call of it runs", () => {
    const other = call({ id: "b", name: "g", args: {} });
    for (const chunks of [
      [begin(), more(piece("$.a", "x"), piece("$.a", "y")), call({}), other],
      [other, begin(), more(piece("$.a", "x", true)), call({})],
    ]) {
      const { stopReason, error } = answer(...chunks, end());
      assert.deepEqual([stopReason, error?.code], ["error", "stream_corrupt"]);
      assert.match(error?.message ?? "", /pieces of arguments that do not fit together/);
    }
  });

  it("belong to the call named by their id, or to the newest call", () => {
    const message = answer(
      begin({ id: "a" }),
      call({ id: "b", name: "f", willContinue: true }),
      call({ id: "a", partialArgs: [piece("$.x", "1")], willContinue: true }),
      call({ id: "b", partialArgs: [piece("$.x", "2")], willContinue: true }),
      call({ id: "a" }),
      call({}),
      begin(),
      more(piece("$.x", "3")),
      begin(),
      call({ name: "f", partialArgs: [piece("$.x", "4")], willContinue: true }),
      call({ name: "f", args: { x: "5" } }),
      end(),
    );
    assert.deepEqual(calls(message), [
      ["a", "f", { x: "1" }],
      ["b", "f", { x: "2" }],
      ["call_1", "f", { x: "3" }],
      ["call_2", "f", { x: "4" }],
      ["call_3", "f", { x: "5" }],
    ]);
  });

  it("are replaced by whole arguments at the end, and pieces after whole arguments are refused", () => {
    const grown = [piece("$.a", "x", true), piece("$.a", "y", true)];
    assert.deepEqual(
      only(
        begin(),
        call({ args: { a: "x" }, partialArgs: grown.slice(0, 1), willContinue: true }),
        call({ args: { a: "xy" }, partialArgs: grown.slice(1) }),
      ).arguments,
      { a: "xy" },
    );
    assert.deepEqual(
      only(begin({ args: {} }), more(piece("$.a", "x", true)), call({ args: { a: "xy" } }))
        .arguments,
      {
        a: "xy",
      },
    );
    assert.deepEqual(only(begin({ args: { a: 1 } }), call({})).arguments, { a: 1 });
    assert.deepEqual(only(begin(), last(piece("$.a", "x")), call({ args: {} })).arguments, {
      a: "x",
    });
    assert.equal(isRefused(begin({ args: { a: 1 } }), last(piece("$.b", "x"))), true);
  });

  it("of any shape, cut anywhere, are reassembled", () => {
    const leaf = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.boolean(),
      fc.constant(null),
    );
    const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 3 },
        leaf,
        fc.array(tie("tree"), { minLength: 1, maxLength: 3 }),
        fc.dictionary(fc.string({ minLength: 1 }), tie("tree"), { minKeys: 1, maxKeys: 3 }),
      ),
    }));
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ minLength: 1 }), tree, { maxKeys: 3 }),
        fc.nat(3),
        (value, cut) => {
          const pieces = [...piecesOf("$", value, cut)];
          const body = sse(begin(), ...pieces.map((one) => more(one)), call({}), end());
          const { message } = decode(googleGenerate, [new TextEncoder().encode(body)]);
          assert.deepEqual(
            (message.content[0] as ToolCall).arguments,
            JSON.parse(JSON.stringify(value)),
          );
        },
      ),
      { numRuns: sweep({ long: 200, short: 50 }) },
    );
  });
});

/**
 * The events of a server for a value: leaves with their paths, strings in two pieces and a final
 * empty one.
 */
function* piecesOf(path: string, value: unknown, cut: number): Generator<object> {
  if (typeof value === "string") {
    yield piece(path, value.slice(0, cut), true);
    yield piece(path, value.slice(cut), true);
    yield piece(path, "");
  } else if (typeof value === "number") yield piece(path, { numberValue: value });
  else if (typeof value === "boolean") yield piece(path, { boolValue: value });
  else if (Array.isArray(value))
    for (const [at, item] of value.entries()) yield* piecesOf(`${path}[${at}]`, item, cut);
  else if (value === null) yield piece(path, { nullValue: "NULL_VALUE" });
  else
    for (const [name, item] of Object.entries(value as object))
      yield* piecesOf(`${path}[${JSON.stringify(name)}]`, item, cut);
}
