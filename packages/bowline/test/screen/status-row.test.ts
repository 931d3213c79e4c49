import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { fitParts } from "../../src/screen/status-row.ts";
import { textWidth } from "../../src/screen/width.ts";

const parts = [
  { text: "opus 5", priority: 5 },
  { text: "12% of 200k", priority: 4 },
  { text: "$0.12", priority: 3 },
  { text: "", priority: 9 },
  { text: "~/work/project (main)", priority: 1 },
  { text: "sandbox on", priority: 2 },
];

test("leaves out the least important parts first and keeps the order", () => {
  assert.equal(
    fitParts(parts, 80),
    "opus 5 · 12% of 200k · $0.12 · ~/work/project (main) · sandbox on",
  );
  assert.equal(fitParts(parts, 44), "opus 5 · 12% of 200k · $0.12 · sandbox on");
  assert.equal(fitParts(parts, 40), "opus 5 · 12% of 200k · $0.12");
  assert.equal(fitParts(parts, 8), "opus 5");
  assert.equal(fitParts(parts, 5), "opus");
  assert.equal(fitParts(parts, 3), "");
});

test("never exceeds the width and never cuts a word", () => {
  const part = fc.record({
    text: fc.array(fc.stringMatching(/^[a-z]{1,9}$/), { maxLength: 4 }).map((w) => w.join(" ")),
    priority: fc.integer({ min: 0, max: 5 }),
  });
  fc.assert(
    fc.property(
      fc.array(part, { maxLength: 6 }),
      fc.integer({ min: 0, max: 60 }),
      (all, columns) => {
        const row = fitParts(all, columns);
        assert.ok(textWidth(row) <= columns);
        const words = new Set(all.flatMap(({ text }) => text.split(" ")));
        for (const word of row.split(/ · | /)) assert.ok(word === "" || words.has(word), word);
      },
    ),
  );
});
