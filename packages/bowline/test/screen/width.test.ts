import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { openStyles } from "../../src/screen/open-styles.ts";
import {
  breakAtWidth,
  cutToWidth,
  plainText,
  textWidth,
  widestWidth,
} from "../../src/screen/width.ts";

const widths: readonly (readonly [string, number])[] = [
  ["", 0],
  ["abc", 3],
  ["é", 1],
  ["e\u0301", 1],
  ["日本語", 6],
  ["한국어", 6],
  ["👍", 2],
  ["👩‍👩‍👧", 2],
  ["🇩🇪", 2],
  ["1️⃣", 2],
  ["❤️", 2],
  ["❯ … │ ─", 7],
  ["a\u200bb", 2],
  ["\u001b[1;31mred\u001b[0m", 3],
  ["\u001b]8;id=1;https://example.org/\u001b\\link\u001b]8;;\u001b\\", 4],
  ["\u001b]8;;https://example.org/\u0007link\u001b]8;;\u0007", 4],
];

for (const [text, columns] of widths) {
  test(`measures ${JSON.stringify(text)} as ${columns}`, () => {
    assert.equal(textWidth(text), columns);
    assert.ok(widestWidth(text) >= columns);
  });
}

test("limits no text with control characters", () => {
  assert.equal(widestWidth("a\tb"), Infinity);
});

test("cuts before a wide character that does not fit, and closes styles", () => {
  assert.equal(cutToWidth("日本語", 5), "日本");
  assert.equal(cutToWidth("abc", 0), "");
  assert.equal(cutToWidth("👩‍👩‍👧x", 1), "👩‍👩‍👧");
  const red = "\u001b[31mabcdef\u001b[39m";
  assert.equal(plainText(cutToWidth(red, 3)), "abc");
  assert.equal(openStyles(cutToWidth(red, 3)), "");
});

test("opens the styles and the link of a cut line again", () => {
  const link = "\u001b]8;id=1;https://example.org/\u001b\\";
  const [head, rest] = breakAtWidth(`\u001b[1m${link}abcdef\u001b]8;;\u001b\\\u001b[22m`, 3);
  assert.equal(openStyles(head), "");
  assert.ok(rest.startsWith(`\u001b[1m${link}def`), rest);
});

test("finds the styles that are open", () => {
  assert.equal(openStyles("\u001b[1m\u001b[31ma\u001b[39m"), "\u001b[1m");
  assert.equal(openStyles("\u001b[38;5;9;4ma"), "\u001b[38;5;9m\u001b[4m");
  assert.equal(openStyles("\u001b[38;2;1;2;3ma\u001b[32mb"), "\u001b[32m");
  assert.equal(openStyles("\u001b[1;2;3;41ma\u001b[m"), "");
});

test("cuts no text wider than asked, and loses none of it", () => {
  const text = fc.string({ unit: "grapheme", maxLength: 60 }).map((all) => plainText(all));
  fc.assert(
    fc.property(text, fc.integer({ min: 2, max: 30 }), (all, columns) => {
      let rest = all;
      let joined = "";
      while (rest !== "") {
        const [head, tail] = breakAtWidth(rest, columns);
        assert.ok(textWidth(head) <= columns);
        assert.ok(tail.length < rest.length);
        joined += head;
        rest = tail;
      }
      assert.equal(joined, all);
    }),
  );
});
