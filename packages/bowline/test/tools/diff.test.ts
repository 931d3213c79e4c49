import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { unifiedDiff } from "../../src/tools/diff.ts";
import { findSpans, replaceSpans, toSourceText } from "../../src/tools/find-text.ts";

/** Applies a diff as `patch` does, without fuzz. Lines end with a line feed. */
function applyDiff(text: string, diff: string): string {
  const old = text.split("\n").slice(0, -1);
  const now: string[] = [];
  let at = 0;
  for (const line of diff.split("\n").slice(2, -1)) {
    const head = /^@@ -(\d+),\d+ \+(\d+),\d+ @@$/.exec(line);
    if (head !== null) {
      now.push(...old.slice(at, Number(head[1]) - 1));
      at = Number(head[1]) - 1;
      assert.equal(now.length, Number(head[2]) - 1, "the place in the new file");
    } else {
      if (!line.startsWith("+")) assert.equal(old[at++], line.slice(1), "a line of the old file");
      if (!line.startsWith("-")) now.push(line.slice(1));
    }
  }
  return [...now, ...old.slice(at)].map((line) => `${line}\n`).join("");
}

describe("unifiedDiff", () => {
  it("turns the old text into the new one, for any replacement", () => {
    const line = fc.constantFrom("a", "b", "c", "x", "xx", "axb", "");
    const text = fc
      .array(line, { minLength: 1, maxLength: 50 })
      .map((lines) => `${lines.join("\n")}\n`);
    const wanted = fc.constantFrom("x", "x\n", "xx", "a\nb", "\nx", "b", "\n\n");
    const replacement = fc.constantFrom("y", "y\nz", "", "y\n", "\n\n", "x");
    fc.assert(
      fc.property(text, wanted, replacement, (before, oldText, newText) => {
        const source = toSourceText(before);
        const spans = findSpans(source, oldText, 1000);
        const after = replaceSpans(source, spans, newText);
        fc.pre(newText !== oldText && (after === "" || after.endsWith("\n")));
        if (after !== "")
          assert.equal(applyDiff(before, unifiedDiff("f", before, spans, newText)), after);
      }),
      { numRuns: 2000 },
    );
  });
});
