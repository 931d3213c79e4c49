import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { runInNewContext } from "node:vm";
import * as fc from "fast-check";
import { calculate } from "../../src/practice/arithmetic.ts";
import { plan } from "../../src/practice/index.ts";
import { sweep } from "../../../../test/support/sweep.ts";

/** Returns the displayed value of an expression. */
function valueOf(expression: string): string {
  return calculate(expression).value ?? "";
}

describe("arithmetic", () => {
  it("has the operator precedence of JavaScript", () => {
    const number = fc
      .tuple(fc.nat(9999), fc.constantFrom(1, 10, 100))
      .map(([top, bottom]) => String(top / bottom));
    const { tree } = fc.letrec<{ tree: string }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 5, withCrossShrink: true },
        number,
        tie("tree").map((inner) => `-(${inner})`),
        fc
          .tuple(tie("tree"), fc.constantFrom("+", "-", "*", "/", "%"), tie("tree"), fc.boolean())
          .map(([a, operator, b, isGroup]) =>
            isGroup ? `(${a} ${operator} ${b})` : `${a} ${operator} ${b}`,
          ),
      ),
    }));
    fc.assert(
      fc.property(tree, (expression) => {
        const expected = runInNewContext(expression) as number;
        if (Number.isFinite(expected))
          assert.equal(valueOf(expression), String(Number(expected.toPrecision(12))));
        else assert.throws(() => valueOf(expression), /no result/);
      }),
      { numRuns: sweep({ long: 2000, short: 500 }) },
    );
  });

  it("shows twelve digits", () => {
    const cases = {
      "0.1+0.2": "0.3",
      "2/3": "0.666666666667",
      "2*-3": "-6",
      "-7 % 3": "-1",
      "1.50+.5": "2",
      "0*-1": "0",
    };
    for (const [expression, value] of Object.entries(cases))
      assert.equal(valueOf(expression), value, expression);
  });

  it("explains why it cannot calculate an expression", () => {
    const cases: Record<string, RegExp> = {
      "1/0": /no result/,
      "5 % (2-2)": /no result/,
      "(1": /not closed/,
      "1+": /its end/,
      "1 2": /did not expect 2/,
      "()": /where a number/,
      ")": /where a number/,
      "1..2": /where a number|did not expect/,
      "": /its end/,
    };
    for (const [expression, reason] of Object.entries(cases))
      assert.throws(() => calculate(expression), reason);
  });

  it("answers a task in one turn, without a tool", () => {
    const say = (content: string): string => plan({ messages: [{ role: "user", content }] }).text;
    for (const wording of [
      "What is (2 + 3) * 4.5?",
      "(2 + 3) * 4.5",
      "please calculate (2 + 3) * 4.5",
    ])
      assert.equal(say(wording), "(2 + 3) * 4.5 = 22.5");
    assert.equal(say("what is (2+3)*4.5?"), "(2+3)*4.5 = 22.5");
    assert.match(say("what is 1 / 0?"), /no result/);
  });
});
