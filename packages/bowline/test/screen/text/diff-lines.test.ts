import { describe, it } from "node:test";
import { deepEqual, equal, match, ok } from "node:assert/strict";
import fc from "fast-check";
import {
  diffLines,
  unifiedDiffLines,
  type DiffLimits,
} from "../../../src/screen/text/diff-lines.ts";
import { editScript } from "../../../src/screen/text/edit-script.ts";
import { textWidth } from "../../../src/screen/width.ts";
import { bare, leftOpen, plain, styled } from "./styles.ts";

function draw(
  before: string | undefined,
  after: string | undefined,
  limits?: DiffLimits,
): string[] {
  return diffLines(before, after, "src/a.ts", 60, plain, limits);
}

const lines = (from: number, to: number): string =>
  Array.from({ length: to - from + 1 }, (_, index) => `line ${from + index}\n`).join("");

describe("diffLines", () => {
  it("numbers the lines and shows three around a change", () => {
    deepEqual(draw(lines(1, 12), lines(1, 5) + "new\n" + lines(7, 12)), [
      "Change of src/a.ts (+1 -1)",
      "3   line 3",
      "4   line 4",
      "5   line 5",
      "6 - line 6",
      "6 + new",
      "7   line 7",
      "8   line 8",
      "9   line 9",
    ]);
  });

  it("separates hunks", () => {
    const rows = draw(lines(1, 30), `first\n${lines(2, 29)}last\n`);
    equal(rows.filter((row) => row.trim() === "...").length, 1);
    equal(rows.at(-1), "30 + last");
  });

  it("tells new, deleted, binary and unchanged files", () => {
    deepEqual(draw(undefined, "a\nb\n"), ["New file src/a.ts (+2)", "1 + a", "2 + b"]);
    deepEqual(draw("a\n", undefined), ["Deletion of src/a.ts (-1)", "1 - a"]);
    deepEqual(draw("a\0b", "c"), ["Change of src/a.ts (not text, so its lines are not shown)"]);
    deepEqual(draw("a", "a"), ["No change of src/a.ts"]);
    deepEqual(draw(undefined, ""), ["New file src/a.ts (+0)"]);
  });

  it("tells that the last line has no newline", () => {
    deepEqual(draw("a\nb", "a\nb\n"), [
      "Change of src/a.ts (+1 -1)",
      "1   a",
      "2 - b",
      "  \\ No newline at end of file",
      "2 + b",
    ]);
  });

  it("shows carriage returns only where they differ", () => {
    deepEqual(draw("a\r\n", "b\r\n").slice(1), ["1 - a", "1 + b"]);
    deepEqual(draw("a\n", "a\r\n").slice(1), ["1 - a", "1 + a␍"]);
  });

  it("emphasises the words that differ", () => {
    const rows = diffLines("const a = one;\n", "const a = two;\n", "a.ts", 60, styled);
    match(rows[1] ?? "", /\u001b\[7m\u001b\[31mone\u001b\[39m\u001b\[27m/);
    match(rows[2] ?? "", /\u001b\[7m\u001b\[32mtwo\u001b\[39m\u001b\[27m/);
    ok(!diffLines("abc def\n", "xyz\n", "a.ts", 60, styled).join("").includes("\u001b[7m"));
  });

  it("wraps long lines with a mark", () => {
    deepEqual(diffLines("", `${"0123456789".repeat(3)}\n`, "a", 20, plain).slice(1), [
      "1 + 0123456789012345",
      "    ↪ 67890123456789",
    ]);
  });

  it("counts the lines that it hides", () => {
    equal(draw(undefined, lines(1, 300)).at(-1), "100 lines hidden");
    equal(draw(undefined, lines(1, 300)).length, 202);
    const rows = draw(lines(1, 30), `first\n${lines(2, 29)}last\n`, { maxHunks: 1 });
    equal(rows.at(-1), "5 lines hidden");
  });

  it("reads the diff of the edit tool", () => {
    const diff =
      "--- a.ts\n+++ a.ts\n@@ -9,2 +9,3 @@\n same\n-old\n+new\n+more\n@@ -40,1 +41,1 @@\n-x\n+y\n[the rest of the diff is left out]\n";
    deepEqual(unifiedDiffLines(diff, "a.ts", 60, plain), [
      "Change of a.ts (+3 -2)",
      " 9   same",
      "10 - old",
      "10 + new",
      "11 + more",
      "   ...",
      "40 - x",
      "41 + y",
      "   \\ [the rest of the diff is left out]",
    ]);
  });

  it("passes no control character of a file", () => {
    deepEqual(draw(undefined, "\u001b[2J\u202e\n").slice(1), ["1 + ␛[2J␡"]);
  });

  it("stays within the columns and closes styles, for any texts", () => {
    const text = fc
      .array(fc.oneof(fc.string(), fc.constantFrom("a", "b", "你好 👩‍👩‍👧‍👦 x")), { maxLength: 20 })
      .map((all) => all.join("\n"));
    fc.assert(
      fc.property(text, text, fc.integer({ min: 20, max: 80 }), (before, after, columns) => {
        for (const row of diffLines(before, after, "a", columns, styled)) {
          ok(textWidth(row) <= columns, JSON.stringify(row));
          deepEqual(leftOpen(row), []);
          ok(!/[\u0000-\u001f]/.test(bare(row)));
        }
      }),
    );
  });
});

describe("editScript", () => {
  it("leads from the first list to the second, and is as short as any", () => {
    const list = fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 12 });
    fc.assert(
      fc.property(list, list, (before, after) => {
        const edits = editScript(before, after);
        const without = (type: string): string[] =>
          edits.filter((edit) => edit.type !== type).map(({ text }) => text);
        deepEqual(without("added"), before);
        deepEqual(without("removed"), after);
        equal(edits.filter(({ type }) => type === "same").length, common(before, after));
      }),
      { numRuns: 500 },
    );
  });

  it("does not align texts with more than 500 differences", () => {
    const many = (mark: string): string[] =>
      Array.from({ length: 2001 }, (_, index) => (index === 1000 ? "same" : `${mark}${index}`));
    const edits = editScript(many("a"), many("b"));
    equal(edits.filter(({ type }) => type === "same").length, 0);
    equal(edits.length, 4002);
  });
});

/** Returns the length of the longest common subsequence. */
function common(a: readonly string[], b: readonly string[]): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, () => 0)];
  for (const [i, x] of a.entries()) {
    const row = [0];
    for (const [j, y] of b.entries())
      row.push(x === y ? (rows[i]?.[j] ?? 0) + 1 : Math.max(rows[i]?.[j + 1] ?? 0, row[j] ?? 0));
    rows.push(row);
  }
  return rows.at(-1)?.at(-1) ?? 0;
}
