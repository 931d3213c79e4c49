/** The parser of JSON that arrives in fragments, against `JSON.parse`. */
import fc from "fast-check";
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseToolArguments } from "../../src/llm/tool-arguments.ts";
import { GrowingJson } from "../../src/partial/growing-json.ts";
import { applyIncrement, type Increment } from "../../src/partial/increment.ts";
import { JsonParser, type JsonMode } from "../../src/partial/json-parser.ts";
import { LiveValue } from "../../src/partial/live-value.ts";
import { code } from "../../../../test/support/error-code.ts";
import { cutAt, documents, places } from "./documents.ts";
import { sweep, sweepSeed } from "../../../../test/support/sweep.ts";

interface Parsed {
  readonly json: GrowingJson;
  /** The value that a reader builds from the increments. */
  readonly copy: unknown;
}

/** Parses fragments. `each` is called after each with the live value and the reader's copy. */
function parse(
  fragments: readonly string[],
  mode: JsonMode = "text",
  each?: (live: unknown, copy: unknown) => void,
): Parsed {
  const json = new GrowingJson({ mode });
  let copy: unknown;
  for (const fragment of fragments) {
    for (const increment of json.write(fragment)) copy = applyIncrement(copy, increment);
    each?.(json.live.value, copy);
  }
  for (const increment of json.end()) copy = applyIncrement(copy, increment);
  return { json, copy };
}

/** Whether a value may become another: each rule of what is shown before the end. */
function isPrefix(early: unknown, late: unknown): boolean {
  if (early === undefined) return true;
  if (typeof early === "string") return typeof late === "string" && late.startsWith(early);
  if (Array.isArray(early))
    return (
      Array.isArray(late) &&
      early.length <= late.length &&
      early.every((item, at) =>
        at < early.length - 1
          ? JSON.stringify(item) === JSON.stringify(late[at])
          : isPrefix(item, late[at]),
      )
    );
  if (typeof early === "object" && early !== null)
    return (
      typeof late === "object" &&
      late !== null &&
      !Array.isArray(late) &&
      Object.entries(early).every(
        ([name, part]) =>
          Object.hasOwn(late, name) && isPrefix(part, (late as Record<string, unknown>)[name]),
      )
    );
  return Object.is(early, late);
}

/** Removes repeated names, whose earlier values the later ones replace. */
const once = (text: string): string => JSON.stringify(JSON.parse(text));

describe("a document that arrives in fragments", () => {
  it("is at its end what JSON.parse makes of it, and so is a reader's copy", (context) => {
    const numRuns = sweep({ long: 2000, short: 400, variable: "BOWLINE_JSON_RUNS" });
    let characters = 0;
    fc.assert(
      fc.property(documents, places, (text, cuts) => {
        characters += text.length;
        const expected: unknown = JSON.parse(text);
        const { json, copy } = parse(cutAt(text, cuts));
        assert.equal(json.state, "complete", json.problem);
        assert.deepStrictEqual(json.live.value, expected);
        assert.deepStrictEqual(copy, expected);
        assert.equal(JSON.stringify(copy), JSON.stringify(expected));
      }),
      { numRuns, ...sweepSeed(20261123) },
    );
    context.diagnostic(`${numRuns} documents of ${Math.round(characters / numRuns)} characters`);
  });

  it("has at each prefix a value that can become the last, equal to the reader's copy", () => {
    fc.assert(
      fc.property(documents, (written) => {
        const text = once(written);
        const expected: unknown = JSON.parse(text);
        parse(text.split(""), "text", (live, copy) => {
          assert.ok(isPrefix(live, expected), `${JSON.stringify(live)} of ${text}`);
          assert.deepStrictEqual(copy, live);
        });
      }),
      {
        numRuns: sweep({ long: 1000, short: 200, variable: "BOWLINE_JSON_RUNS" }),
        ...sweepSeed(20261124),
      },
    );
  });

  it("is broken where JSON.parse throws, after any change of one character", (context) => {
    let broken = 0;
    const numRuns = sweep({ long: 2000, short: 400, variable: "BOWLINE_JSON_RUNS" });
    fc.assert(
      fc.property(
        documents,
        places,
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.constantFrom("", ",", "}", "]", '"', "\\", "{", "0", "-", "e", "\n", "t", ":", "`"),
        (text, cuts, place, mark) => {
          const at = Math.floor(place * text.length);
          const changed = text.slice(0, at) + mark + text.slice(at + 1);
          let expected: unknown;
          try {
            expected = JSON.parse(changed);
          } catch {
            broken++;
            const { json } = parse(cutAt(changed, cuts));
            assert.equal(json.state, "broken", changed);
            assert.notEqual(json.problem, undefined);
            return;
          }
          assert.deepStrictEqual(parse(cutAt(changed, cuts)).json.live.value, expected);
        },
      ),
      { numRuns, ...sweepSeed(20261125) },
    );
    context.diagnostic(`${broken} of ${numRuns} are broken`);
    assert.ok(broken > numRuns / 10);
  });

  it("is broken where JSON.parse throws, in these forms", () => {
    const forms = String.raw`{,"a":1} {x"a":1} {"a",1} {"a":1,} {"a"} {1:1} [1,] [,1] [1}
      {"a":1] [1[ 01 1. .5 +1 - 1e 1e+ --1 tru truE nul NaN 'a' "a "\x" "\u12G4" "\u1" {"a":1}} []]
      [1"a"] "a"b true1 {"a":tru} {"a":1e} {"a"1} 1${"`"}
      {a":1} {"a":1,b":2}`;
    for (const text of ["", " ", "[1 2]", '"\t"', ...forms.split(/\s+/)])
      for (const fragments of [[text], text.split("")]) {
        assert.throws(() => void JSON.parse(text), text);
        const { json } = parse(fragments);
        assert.equal(json.state, "broken", text);
        assert.notEqual(json.problem, undefined, text);
        const before = JSON.stringify(json.live.value);
        assert.deepEqual([json.write("1"), json.end()], [[], []]);
        assert.equal(JSON.stringify(json.live.value), before);
      }
  });

  it("is broken at the first character that no value has, and says so", () => {
    for (const [text, problem] of [
      ["nope", '"no" is not a JSON value.'],
      ["[tru]", '"tru]" is not a JSON value.'],
      ['{"a":falsy', '"falsy" is not a JSON value.'],
      ["[1,01]", '"01" is not a JSON number.'],
      ["[-]", '"-" is not a JSON number.'],
    ] as const)
      for (const fragments of [[text], text.split("")]) {
        const json = new GrowingJson({ mode: "text" });
        for (const fragment of fragments) json.write(fragment);
        assert.deepEqual([json.state, json.problem], ["broken", problem], text);
      }
  });

  it("may be followed by the whole end of a code block or of a call, and by nothing else", () => {
    const stateOf = (text: string, mode: JsonMode): string =>
      [[text], text.split("")].map((fragments) => parse(fragments, mode).json.state).join();
    for (const [mode, tail] of [
      ["answer", "```"],
      ["arguments", "</tool_call>"],
    ] as const) {
      for (const whole of ["", " \n", tail, ` ${tail}\n`])
        assert.equal(stateOf(`{"a":1}${whole}`, mode), "complete,complete", whole);
      const cut = tail.slice(0, 2);
      for (const odd of [cut, `${cut} ${tail.slice(2)}`, `${cut}\n`, `${tail}x`, `${tail}${tail}`])
        assert.equal(stateOf(`{"a":1}${odd}`, mode), "broken,broken", odd);
    }
    for (const tail of ["```", "</tool_call>"])
      assert.equal(stateOf(`{"a":1}${tail}`, "text"), "broken,broken", tail);
  });

  it("has as tool arguments the repairs and the digits of the run's parser", (context) => {
    let same = 0;
    const numRuns = sweep({ long: 2000, short: 400, variable: "BOWLINE_JSON_RUNS" });
    fc.assert(
      fc.property(
        fc.record({ a: fc.string({ unit: "binary" }), b: fc.bigInt(), c: fc.string() }),
        places,
        ({ a, b, c }, cuts) => {
          const raw = a.replaceAll('"', "");
          const text = `{"a":"${raw}","b":${b},"c":${JSON.stringify(c)},"d":"\\d\\u1g"}\n</tool_call>`;
          const expected = parseToolArguments(text);
          const { json, copy } = parse(cutAt(text, cuts), "arguments");
          assert.equal(json.state === "broken", expected.error !== undefined, text);
          if (expected.error !== undefined) return;
          same++;
          assert.deepStrictEqual(json.live.value, expected.arguments);
          assert.deepStrictEqual(copy, expected.arguments);
        },
      ),
      { numRuns, ...sweepSeed(20261126) },
    );
    context.diagnostic(`${same} could be repaired`);
    assert.ok(same > numRuns / 2);
  });

  it("shows numbers and literals only when they are complete", () => {
    const seen: string[] = [];
    parse('{"n":-12.5e1,"b":true,"x":null}'.split(""), "text", (live) => {
      const now = JSON.stringify(live) ?? "";
      if (now !== seen.at(-1)) seen.push(now);
    });
    assert.deepEqual(seen, [
      "{}",
      '{"n":-125}',
      '{"n":-125,"b":true}',
      '{"n":-125,"b":true,"x":null}',
    ]);
  });

  it("holds back half a character, whether written plainly or as an escape", () => {
    for (const text of ['"a😀b"', String.raw`"a\ud83d\ude00b"`]) {
      const seen = new Set<unknown>();
      parse(text.split(""), "text", (live) => seen.add(live));
      assert.deepEqual([...seen], [undefined, "a", "a😀", "a😀b"]);
    }
    assert.equal(parse([String.raw`"\ud83d`, '"']).json.live.value, "\ud83d");
  });

  it("has an own property __proto__ and the last of repeated names", () => {
    const text = '{"__proto__":{"x":1},"a":{"b":1},"a":{"c":2},"s":"one","s":"two"}';
    const { json, copy } = parse(text.split(""));
    for (const value of [json.live.value, copy]) {
      assert.deepStrictEqual(value, JSON.parse(text));
      assert.equal(Object.getPrototypeOf(value), Object.prototype);
    }
  });

  it("changes nothing of a reader's copy but its parts, and refuses steps out of order", () => {
    const refused: [unknown, Increment][] = [
      [undefined, { op: "append", path: [], increment: "a" }],
      [{}, { op: "append", path: ["a"], increment: "a" }],
      [{ a: 1 }, { op: "append", path: ["a"], increment: "a" }],
      [{ a: "x" }, { op: "append", path: ["a"], increment: {} } as never],
      [{}, { op: "set", path: ["constructor", "x"], increment: 1 }],
      [{}, { op: "set", path: ["__proto__", "x"], increment: 1 }],
      [{}, { op: "set", path: [0], increment: 1 }],
      ["text", { op: "set", path: ["a"], increment: 1 }],
      [{ a: null }, { op: "set", path: ["a", "b", "c"], increment: 1 }],
      [{ a: "x" }, { op: "set", path: ["a", "length", "c"], increment: 1 }],
      [null, { op: "append", path: ["a", "b"], increment: "a" }],
      ...["length", "0", 2, -1, 0.5].map((key): [unknown, Increment] => [
        [1],
        { op: "set", path: [key], increment: 1 },
      ]),
    ];
    for (const [value, increment] of refused)
      assert.throws(() => applyIncrement(value, increment), code("invalid_argument"));
    const event = { op: "set", path: ["a"], increment: {} } as const;
    const copy = applyIncrement(applyIncrement({}, event), {
      op: "set",
      path: ["a", "__proto__"],
      increment: 1,
    });
    assert.deepEqual([JSON.stringify(copy), event.increment], ['{"a":{"__proto__":1}}', {}]);
    const items = { op: "set", path: [1], increment: [] } as const;
    const list = applyIncrement(applyIncrement([1], items), {
      op: "set",
      path: [1, 0],
      increment: 2,
    });
    assert.deepEqual([list, items.increment], [[1, [2]], []]);
  });

  it("may be nested 100 levels deep and no deeper", () => {
    const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);
    assert.equal(parse([nested(100)]).json.state, "complete");
    const { json } = parse([nested(101)]);
    assert.deepEqual(
      [json.state, json.problem],
      ["broken", "The JSON is nested deeper than 100 levels."],
    );
    assert.equal(parse([`{"a":${nested(99)}}`], "arguments").json.state, "complete");
  });

  it("is compared with the whole value without recording its steps again", () => {
    const live = new LiveValue({ isSilent: true });
    const parser = new JsonParser(live);
    parser.write('{"a":[1,"b",{"c":null}]}');
    parser.end();
    assert.deepEqual([live.live.value, live.take()], [{ a: [1, "b", { c: null }] }, []]);
  });

  it("may have 16 Mi characters and no more", () => {
    const half = "x".repeat(8 * 1024 * 1024 - 1);
    assert.equal(parse(['"', half, half, '"']).json.state, "complete");
    const { json } = parse(['"', half, half, '"', " "]);
    assert.deepEqual(
      [json.state, json.problem],
      ["broken", "The JSON is longer than 16777216 characters."],
    );
  });
});
