import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { JsonError, readJson } from "../../src/settings/json-text.ts";

function placeOfError(text: string): string {
  try {
    readJson(text);
  } catch (error) {
    assert.ok(error instanceof JsonError, String(error));
    return `${error.place.line}:${error.place.column} ${error.message}`;
  }
  return assert.fail(`${text} was read`);
}

describe("readJson", () => {
  it("reads what JSON.parse reads, and refuses what it refuses", () => {
    fc.assert(
      fc.property(
        fc.jsonValue({ depthSize: "small" }),
        fc.integer({ min: 0, max: 3 }),
        (value, indent) => {
          const text = JSON.stringify(value, undefined, indent);
          assert.deepEqual(readJson(text).value, JSON.parse(text));
        },
      ),
    );
    const pieces = fc.constantFrom(
      "{",
      "}",
      "[",
      "]",
      ",",
      ":",
      '"a"',
      '"',
      "1",
      "-",
      "0",
      "e",
      ".",
      "true",
      "nul",
      "\\",
      " ",
      "\n",
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 8 }), (parts) => {
        const text = parts.join("");
        let isJson = true;
        try {
          JSON.parse(text);
        } catch {
          isJson = false;
        }
        // A key that stands twice is refused here only.
        const isTwice = /"a"[^]*"a"/.test(text);
        if (!isJson) assert.throws(() => readJson(text), JsonError);
        else if (!isTwice) assert.deepEqual(readJson(text).value, JSON.parse(text));
      }),
      { numRuns: 2000 },
    );
  });

  for (const [text, place] of [
    ['{\n  "a": 1,\n}', "3:1 There is a comma before the closing }"],
    ["{ // why\n}", "1:3 The file is plain JSON, which has no comments"],
    ['{"a": 1 /* why */}', "1:9 The file is plain JSON, which has no comments"],
    ["{'a': 1}", "1:2 A name in double quotes is expected here"],
    ['{"a": yes}', "1:7 A value is expected here; texts take double quotes"],
    ['{"a": "x', "1:7 This text has no closing quote"],
    ['{"a": 1', "1:8 A comma or } is expected here"],
    ['{"a": 1, "b": 2, "a": 3}', '1:18 "a" stands here twice'],
    ["", "1:1 The file ends before the value does"],
    ["{} {}", "1:4 There is text after the end of the JSON value"],
    ["[".repeat(50), "1:34 Values are nested deeper than 32 levels"],
  ] as const)
    it(`names the place in ${JSON.stringify(text.slice(0, 30))}`, () => {
      assert.equal(placeOfError(text), place);
    });
});
