import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { runInNewContext } from "node:vm";
import * as fc from "fast-check";
import { calculate, toExpression } from "../../src/practice/arithmetic.ts";
import { plan } from "../../src/practice/index.ts";

/** An expression with the value it was built to have, as a fraction that is never reduced: nothing is shared with the evaluator. */
interface Known {
  readonly text: string;
  readonly top: bigint;
  readonly bottom: bigint;
}

const number = fc.tuple(fc.nat(9999), fc.integer({ min: 0, max: 2 })).map(([digits, places]): Known => {
  const text = String(digits).padStart(places + 1, "0");
  const split = text.length - places;
  return {
    text: places === 0 ? text : `${text.slice(0, split)}.${text.slice(split)}`,
    top: BigInt(digits),
    bottom: 10n ** BigInt(places),
  };
});

/** Both operands are in parentheses, so that no knowledge of precedence is needed to know the value. */
const { tree } = fc.letrec<{ tree: Known }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    number,
    tie("tree").map(({ text, top, bottom }) => ({ text: `-(${text})`, top: -top, bottom })),
    fc.tuple(fc.constantFrom("+", "-", "*", "/"), tie("tree"), tie("tree")).map(([operator, a, b]): Known => {
      const text = `(${a.text}) ${operator} (${b.text})`;
      if (operator === "*") return { text, top: a.top * b.top, bottom: a.bottom * b.bottom };
      if (operator === "/" && b.top !== 0n) return { text, top: a.top * b.bottom, bottom: a.bottom * b.top };
      const sign = operator === "-" ? -1n : 1n;
      const sum = { top: a.top * b.bottom + sign * b.top * a.bottom, bottom: a.bottom * b.bottom };
      return operator === "/" ? a : { text, ...sum };
    }),
  ),
}));

/** Whether a decimal is the value, or within half a unit of its twelfth place. */
function isValue(decimal: string, isExact: boolean, { top, bottom }: Known): boolean {
  const [whole = "", places = ""] = decimal.replace("-", "").split(".");
  const digits = BigInt(whole + places) * (decimal.startsWith("-") ? -1n : 1n);
  const error = digits * bottom - top * 10n ** BigInt(places.length);
  if (isExact) return error === 0n;
  const abs = (value: bigint): bigint => (value < 0n ? -value : value);
  return 2n * abs(error) * 10n ** 12n <= abs(bottom) * 10n ** BigInt(places.length);
}

describe("arithmetic", () => {
  it("gives any expression the value it was built to have", () => {
    fc.assert(
      fc.property(tree, (known) => {
        const { text, isExact } = calculate(known.text);
        assert.ok(isValue(text, isExact, known), `${known.text} is not ${text}`);
      }),
      { numRuns: 2000 },
    );
  });

  it("binds as JavaScript does, when nothing is in parentheses", () => {
    const step = fc.tuple(fc.constantFrom("+", "-", "*", "%", "**"), fc.integer({ min: 1, max: 4 }));
    // Three powers in a row may have more digits than memory.
    const steps = fc
      .array(step, { minLength: 1, maxLength: 8 })
      .filter((all) => all.filter(([operator]) => operator === "**").length < 3);
    fc.assert(
      fc.property(fc.nat(9), steps, (first, rest) => {
        const source = rest.reduce((text, [operator, value]) => `${text} ${operator} ${value}`, String(first));
        const expected = runInNewContext(source.replaceAll(/\d+/g, "$&n")) as bigint;
        assert.equal(calculate(source.replaceAll("**", "^")).text, expected.toString(), source);
      }),
      { numRuns: 1000 },
    );
  });

  it("is exact where it says so, and says when it rounds", () => {
    const cases = {
      "0.1+0.2": "0.3",
      "2^100": "1267650600228229401496703205376",
      "-2^2": "-4",
      "2^-2": "0.25",
      "2*-3": "-6",
      "1/8": "0.125",
      "-7 % 3": "-1",
      "5.5 % 2": "1.5",
      "0^0": "1",
      "1.50+.5": "2",
      "(-1)^100001": "-1",
      "0-0.0": "0",
    };
    for (const [expression, text] of Object.entries(cases))
      assert.deepEqual(calculate(expression), { text, isExact: true }, expression);
    assert.deepEqual(calculate("2/3"), { text: "0.666666666667", isExact: false });
  });

  it("says what is wrong with what it cannot calculate", () => {
    const cases: Record<string, RegExp> = {
      "1/0": /divides by zero/,
      "5 % (2-2)": /divides by zero/,
      "0^-1": /divides by zero/,
      "2^0.5": /whole powers/,
      "9^9^9^9": /too large/,
      "2^99999999999999999999": /too large/,
      "(1": /not closed/,
      "1+": /its end/,
      "1 2": /did not expect 2/,
      "()": /where a number/,
      ")": /where a number/,
      "1..2": /where a number|did not expect/,
      "": /its end/,
    };
    for (const [expression, reason] of Object.entries(cases))
      assert.throws(() => calculate(expression), reason, expression);
    assert.throws(() => calculate("(".repeat(1000)), /too long/);
    assert.throws(() => calculate(`${"9".repeat(5000)}*1`), /too large/);
  });

  it("reads words as operators, and only calculations as such", () => {
    const cases: Record<string, string | undefined> = {
      "2 plus 3 times 4": "2 + 3 * 4",
      "10% of 250": "10/100 * 250",
      "1,000,000 divided by 4": "1000000 / 4",
      "3 x 4": "3 * 4",
      "6 × 7 =": "6 * 7",
      "2 to the power of 8": "2 ^ 8",
      "the result minus 1": "it - 1",
      it: undefined,
      "5": undefined,
      "src - test": undefined,
      "that is all": undefined,
    };
    for (const [text, expression] of Object.entries(cases)) assert.equal(toExpression(text), expression, text);
  });

  it("answers a task in one turn, without a tool", () => {
    const say = (content: string): string => plan({ messages: [{ role: "user", content }] }).text;
    for (const wording of [
      "What is (2 + 3) * 4.5?",
      "(2 + 3) * 4.5",
      "please calculate (2 + 3) * 4.5",
      "How much is (2 + 3) * 4.5 =",
    ])
      assert.equal(say(wording), "(2 + 3) * 4.5 = 22.5");
    assert.equal(say("what's 10 divided by 3?"), "10 / 3 is about 3.333333333333");
    assert.equal(say("multiply 1.5 by 4"), "1.5 * 4 = 6");
    assert.equal(say("what is 1 / 0?"), "That divides by zero, which has no result.");
  });
});
