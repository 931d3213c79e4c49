import { describe, it } from "node:test";
import { deepEqual, equal, ok } from "node:assert/strict";
import fc from "fast-check";
import { textWidth } from "../../../src/screen/width.ts";
import { SOFT_END } from "../../../src/screen/text/cell-flow.ts";
import { createStream, draw, drawParts } from "./draw.ts";
import { bare, leftOpen, plain, styled } from "./styles.ts";
import { sweep } from "../../../../../test/support/sweep.ts";

const word = fc.oneof(
  fc.constantFrom(
    "a",
    "word",
    "longerword",
    "snake_case",
    "2*3",
    "x.",
    "end!",
    "what?",
    "(see)",
    "你好",
    "世界。",
  ),
  fc.constantFrom("👩‍👩‍👧‍👦", "é", "e\u0301", "カタカナ", "한국어", "1.", "-", "&amp;", "\\*", "|", "#"),
  fc.stringMatching(/^[a-z]{1,50}$/),
);
const inline = fc.oneof(
  { weight: 6, arbitrary: word },
  { weight: 1, arbitrary: word.map((text) => `**${text}**`) },
  { weight: 1, arbitrary: word.map((text) => `*${text}*`) },
  { weight: 1, arbitrary: word.map((text) => `\`${text}\``) },
  { weight: 1, arbitrary: word.map((text) => `~~${text}~~`) },
  { weight: 1, arbitrary: word.map((text) => `[${text}](https://example.org/${text.length})`) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      "**",
      "*",
      "`",
      "~~",
      "[",
      "](",
      "<b>",
      "![a](b)",
      "_",
      "\u001b[31m",
      "\u202e",
    ),
  },
);
const sentence = fc.array(inline, { minLength: 1, maxLength: 30 }).map((words) => words.join(" "));
const line = fc.oneof(
  { weight: 4, arbitrary: sentence },
  { weight: 1, arbitrary: sentence.map((text) => `- ${text}`) },
  { weight: 1, arbitrary: sentence.map((text) => `  - [ ] ${text}`) },
  { weight: 1, arbitrary: sentence.map((text) => `1. ${text}`) },
  { weight: 1, arbitrary: sentence.map((text) => `   ${text}  `) },
  { weight: 1, arbitrary: sentence.map((text) => `> ${text}`) },
  { weight: 1, arbitrary: sentence.map((text) => `## ${text}`) },
  { weight: 1, arbitrary: sentence.map((text) => `| ${text} | b |`) },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      "",
      "",
      "```ts",
      "```",
      "~~~",
      "---",
      "===",
      "| a | b |\n|---|--:|",
      "|---|---|",
      "<div>",
      "    code",
      "\tcode\ttab",
      "> - > 1. deep",
      "-",
      "const a = `x${1}`; // " + "long ".repeat(40),
      "/* open",
    ),
  },
);
const document = fc
  .array(fc.tuple(line, fc.constantFrom("\n", "\n", "\n", "\r\n")), { maxLength: 25 })
  .map((lines) => lines.map((pair) => pair.join("")).join(""));
const cuts = fc.array(fc.nat(), { maxLength: 40 });
const columns = fc.integer({ min: 20, max: 100 });

function cutText(text: string, at: readonly number[]): string[] {
  const places = [...new Set(at.map((place) => place % (text.length + 1)))].toSorted(
    (a, b) => a - b,
  );
  return [0, ...places].map((start, index) => text.slice(start, places[index] ?? text.length));
}

describe("MarkdownStream, for any text", () => {
  it("draws the same rows however the text is cut", () => {
    fc.assert(
      fc.property(document, cuts, columns, fc.boolean(), (text, at, width, isStyled) => {
        const options = { columns: width, colours: isStyled ? styled : plain };
        const whole = draw(text, options);
        deepEqual(drawParts(cutText(text, at), options), whole);
        deepEqual(drawParts(text.split(""), options), whole);
      }),
      { numRuns: sweep({ long: 300, short: 75 }) },
    );
  });

  it("draws the same rows when the tail is asked for in between", () => {
    fc.assert(
      fc.property(document, cuts, (text, at) => {
        const stream = createStream();
        const rows: string[] = [];
        for (const part of cutText(text, at)) {
          rows.push(...stream.push(part));
          const tail = stream.tail(5);
          ok(tail.length <= 5);
          deepEqual(stream.tail(5), tail);
        }
        deepEqual([...rows, ...stream.end()], draw(text));
      }),
      { numRuns: sweep({ long: 150, short: 40 }) },
    );
  });

  it("keeps rows within the columns and closes their styles", () => {
    fc.assert(
      fc.property(
        document,
        columns,
        fc.constantFrom("osc8" as const, "text" as const),
        (text, width, linkStyle) => {
          for (const row of draw(text, { columns: width, colours: styled, linkStyle })) {
            ok(textWidth(row) <= width, `${textWidth(row)} > ${width}: ${JSON.stringify(row)}`);
            deepEqual(leftOpen(row), [], JSON.stringify(row));
          }
        },
      ),
      { numRuns: sweep({ long: 300, short: 75 }) },
    );
  });

  it("passes no control character, bidirectional mark or foreign escape", () => {
    const wild = fc.array(
      fc.oneof(
        fc.string({ unit: "binary", maxLength: 20 }),
        fc.constantFrom(
          "\u001b]0;t\u0007",
          "\u001b[2J",
          "\u009b3J",
          "&#27;[31m",
          "&#x9b;2J",
          "\u200e\u202e",
          "[a](\u001b]8;;x)",
          "<\u001b[1m>",
          "`\u001b`",
          "\n",
          "\r",
          "![\u0007](\u001b[2J)",
          "[x](https://a.b/\u001b[2J)",
          "```\u001b\n",
          "\ud800",
          "&#xd800;",
          "[a](https://x.org/&#27;)",
        ),
      ),
      { maxLength: 20 },
    );
    fc.assert(
      fc.property(wild, fc.boolean(), (parts, isStyled) => {
        const rows = drawParts(parts, { colours: isStyled ? styled : plain, linkStyle: "osc8" });
        for (const row of rows) {
          const text = bare(row);
          ok(
            !/[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]/.test(
              text.replaceAll(/[\ud800-\udbff][\udc00-\udfff]/g, ""),
            ),
            JSON.stringify(row),
          );
        }
      }),
      { numRuns: sweep({ long: 500, short: 125 }) },
    );
  });

  it("loses no word", () => {
    fc.assert(
      fc.property(document, columns, (text, width) => {
        const flat = (rows: string): string => rows.replaceAll(/[^a-z你好世界カタナ한국어]/g, "");
        const rows = draw(text, { columns: width, colours: styled, linkStyle: "text" });
        const drawn = flat(rows.map((row) => bare(row.replace(SOFT_END, ""))).join(""));
        // A row may break between two wide characters, and another cell then stands between them.
        for (const found of text.match(/[a-z]{8,}/g) ?? [])
          ok(drawn.includes(found), `${found} is missing in ${JSON.stringify(rows)}`);
        const count = (shown: string, char: string): number => shown.split(char).length - 1;
        for (const char of "你好世界한국어")
          ok(count(drawn, char) >= count(text, char), `${char} is missing in ${rows.join("\n")}`);
        equal(
          (text.match(/longerword/g) ?? []).length <= (drawn.match(/longerword/g) ?? []).length,
          true,
        );
      }),
      {
        numRuns: sweep({ long: 300, short: 75 }),
        examples: [["> *世界。* `|` aa 한국어 a\n|---|---|\n", 20]],
      },
    );
  });
});
