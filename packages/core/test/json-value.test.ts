/** The digits of numbers in JSON values. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { keepDigits } from "../src/json-value.ts";

const read = (json: string): unknown => JSON.parse(keepDigits(json));

describe("the digits of numbers in JSON", () => {
  it("are kept as strings if JavaScript would round them or give infinity", () => {
    for (const number of [
      "1234567890123456789",
      "-9007199254740993",
      "9007199254740993.5",
      "12345678901234.56789e5",
      "1e400",
      "-1E+400",
      "1e-400",
    ]) {
      assert.equal(read(number), number);
      assert.deepEqual(read(`{"a":[${number},1],"b":"x"}`), { a: [number, 1], b: "x" });
    }
  });

  it("are unchanged for numbers that JavaScript writes the same way", () => {
    for (const number of [
      "9007199254740992",
      "123456789012345680000",
      "6.02214076e23",
      "1e308",
      "0.12345678901234567890",
      "52.520006599999999",
      "0e999",
      "-0",
      "0.00000000000000000000",
    ])
      assert.equal(keepDigits(`[${number}]`), `[${number}]`);
  });

  it("are ignored inside strings, and in invalid JSON", () => {
    for (const json of [
      '["1234567890123456789"]',
      '{"1234567890123456789":"a\\"1234567890123456789 \\\\"}',
      "[01234567890123456789]",
      "[1-2345678901234567890]",
      "[1234567890123456789.]",
    ])
      assert.equal(keepDigits(json), json);
  });

  it("are preserved for any whole number, and no other value changes", () => {
    fc.assert(
      fc.property(fc.bigInt(), fc.jsonValue(), (number, value) => {
        const { a } = read(`{"a":${number}}`) as { a: number | string };
        assert.equal(BigInt(a), typeof a === "string" ? number : BigInt(Number(number)));
        assert.equal(
          typeof a === "number",
          String(Number(number)) === String(number) || String(a).includes("e"),
        );
        const json = JSON.stringify({ value, text: String(number) });
        assert.deepEqual(read(json), JSON.parse(json));
      }),
    );
  });
});
