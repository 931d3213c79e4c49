/** Patterns match what the engine's RegExp matches, in time linear in the text. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createContext, Script } from "node:vm";
import * as fc from "fast-check";
import { isBowlineError } from "../src/errors.ts";
import { checkJson } from "../src/json-schema.ts";
import { compilePattern } from "../src/pattern.ts";
import { cpuMs } from "../../../test/support/cpu-time.ts";
import { sweep } from "../../../test/support/sweep.ts";

const atom = fc.constantFrom(
  "a",
  "b",
  ".",
  "\\d",
  "\\w",
  "\\W",
  "[ab]",
  "[^a]",
  "[]",
  "[^]",
  "[\\]a-]",
  "\\u0061",
  "\\x62",
  "\\p{L}",
  "^",
  "$",
  "\\b",
  "\\B",
  "\\.",
  "é",
  "\\n",
  "()",
  "(?:)",
);
const quantifier = fc.constantFrom(
  "",
  "",
  "*",
  "+",
  "?",
  "*?",
  "+?",
  "??",
  "{2}",
  "{1,}",
  "{0,2}?",
  "{0}",
);
const { pattern } = fc.letrec<{ pattern: string; part: string }>((tie) => ({
  pattern: fc
    .array(fc.array(tie("part"), { maxLength: 4 }), { minLength: 1, maxLength: 3 })
    .map((ways) => ways.map((parts) => parts.join("")).join("|")),
  part: fc.oneof(
    { maxDepth: 3 },
    fc
      .tuple(atom, quantifier)
      .map(([one, often]) => (/^(?:[$^]|\\[bB])$/.test(one) ? one : one + often)),
    fc
      .tuple(fc.constantFrom("(", "(?:", "(?<n>"), tie("pattern"), quantifier)
      .map(([begin, inner, often]) => `${begin}${inner})${often}`),
    fc
      .tuple(fc.constantFrom("(?=", "(?!"), tie("pattern"))
      .map(([begin, inner]) => `${begin}${inner})`),
  ),
}));
// Short, because the engine backtracks: nested quantifiers cost it a multiple for each character.
// Even so, some patterns cost it hours.
const text = fc.string({
  unit: fc.constantFrom("a", "b", "1", " ", "\n", "]", "é", "."),
  maxLength: 5,
});

const isValid = (source: string): boolean => {
  try {
    return new RegExp(source, "u") instanceof RegExp;
  } catch {
    return false; // a duplicate name
  }
};

/** The longest time that the engine may backtrack, in milliseconds. */
const ENGINE_MS = 2000;
const asked = createContext({ source: "", all: [] as readonly string[] });
const ask = new Script(`all.map((one) => new RegExp(source, "u").test(one))`);

/** Returns the engine's answers, or undefined if it backtracks for too long. */
function engineAnswers(source: string, all: readonly string[]): boolean[] | undefined {
  Object.assign(asked, { source, all });
  try {
    return ask.runInContext(asked, { timeout: ENGINE_MS }) as boolean[];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_SCRIPT_EXECUTION_TIMEOUT") return undefined;
    throw error;
  }
}

const RUNS = sweep({ long: 3000, short: 750 });

describe("a pattern", () => {
  it("agrees with the engine's RegExp", (context) => {
    let endless = 0;
    fc.assert(
      fc.property(
        pattern.filter(isValid),
        fc.array(text, { minLength: 5, maxLength: 5 }),
        (source, all) => {
          const own = compilePattern(source);
          const answers = all.map((one) => own.test(one));
          const expected = engineAnswers(source, all);
          if (expected === undefined) endless++;
          else assert.deepEqual(answers, [...expected], JSON.stringify(all));
        },
      ),
      { numRuns: RUNS },
    );
    context.diagnostic(`the engine backtracks for too long in ${endless} of ${RUNS} patterns`);
    assert.ok(endless < RUNS / 100, `${endless} patterns were not compared`);
  });

  it("counts a character outside the BMP as one", () => {
    for (const [source, fits] of [
      ["^.$", true],
      ["^..$", false],
      ["^[🪢a]{1}$", true],
      ["^\\u{1faa2}$", true],
    ] as const)
      assert.equal(compilePattern(source).test("🪢"), fits, source);
  });

  it("in the older syntax agrees with the engine's RegExp", () => {
    for (const source of ["\\_a", "[\\w-.]+", "a{", "x{,2}", "a]", "\\-{2}", "^\\/tmp\\/", "{}"])
      for (const one of ["_a", "a-.", "a{", "x{,2}", "a]", "--", "/tmp/", "{}", "", "b"])
        assert.equal(
          compilePattern(source).test(one),
          new RegExp(source).test(one),
          `${source} ${one}`,
        );
  });

  it("is matched within milliseconds, even if a backtracking engine would take very long", () => {
    const attacks: [string, string][] = [
      ["^(a+)+$", `${"a".repeat(40)}!`],
      ["^(a|a)*$", `${"a".repeat(40)}!`],
      ["^(a|aa)+$", `${"a".repeat(60)}!`],
      ["^(?:a?){40}a{40}$", "a".repeat(39)],
      ["(.*)*=(.*)*;", "a=".repeat(40)],
      ["^([a-z]+-?)*$", `${"abc-".repeat(20)}!`],
      ["^\\s+|\\s+$", `${" ".repeat(10_000)}x`],
      ["a*a*a*a*b", "a".repeat(2_000)],
      ["^(?=(a+)+b)", "a".repeat(40)],
    ];
    for (const [source, one] of attacks) {
      const schema = { type: "string", pattern: source };
      const from = cpuMs();
      const result = checkJson(schema, one);
      assert.ok(cpuMs() - from < 500, source);
      assert.equal(result.issues === undefined, source === "^\\s+|\\s+$", source);
    }
  });

  it("with a lookahead at every position of a long text gives up, and reports it as too large", () => {
    const schema = { type: "string", pattern: "^(?:(?=[^]*!)a)*!$" };
    const { issues } = checkJson(schema, `${"a".repeat(100_000)}!`);
    assert.match(issues?.[0]?.message ?? "", /too large to be checked/);
  });

  it("may use the anchors \\A and \\Z", () => {
    const own = compilePattern("\\A\\d+\\Z");
    assert.deepEqual([own.test("12"), own.test("A12Z"), own.test("12\n")], [true, false, false]);
  });

  it("with a backreference, a lookbehind, a large count or invalid syntax is refused", () => {
    const sources = [
      "(a)\\1",
      "(?<n>a)\\k<n>",
      "(?<=a)b",
      "(?<!a)b",
      "(?:a{1000}){1000}",
      "(?:){1000000000}",
      "(",
    ];
    for (const source of sources)
      assert.throws(
        () => checkJson({ type: "string", pattern: source }, "a"),
        (error) => isBowlineError(error) && error.code === "invalid_argument",
        source,
      );
  });
});
