import { describe, it } from "node:test";
import { ok } from "node:assert/strict";
import { createStream } from "./draw.ts";
import { styled } from "./styles.ts";

const SIZE = 100_000;

function repeat(text: string, size: number = SIZE): string {
  return text.repeat(Math.ceil(size / text.length)).slice(0, size);
}

const prose = "Some **bold** words, `code` and a [link](https://example.org). Then it goes on. ";
const mixed = `# Title\n\n${prose.repeat(5)}\n\n- ${prose}\n- b\n\n\`\`\`ts\nconst a = 1;\n\`\`\`\n\n|a|b|\n|-|-|\n|1|2|\n\n`;
const texts: Readonly<Record<string, string>> = {
  "1 MB of all kinds of blocks": repeat(mixed, 1_000_000),
  "one paragraph": repeat(prose),
  "one word": repeat("a"),
  "one word of two columns": repeat("世界"),
  "one line of emojis": repeat("👩‍👩‍👧‍👦"),
  "one list": repeat(`- ${prose}\n`),
  "one nested list": repeat("- a\n  - b\n    - c\n"),
  "one quote": repeat(`> ${prose}\n`),
  "one block of code": `\`\`\`ts\n${repeat("const answer = 42; // why\n")}`,
  "one line of code": `\`\`\`ts\n${repeat("a=1;")}`,
  "one open comment": `\`\`\`ts\n/*\n${repeat("it goes on\n")}`,
  "one open template": `\`\`\`ts\nconst a = \`\n${repeat("it goes on {}\n")}`,
  "one table": `| a | b |\n|---|---|\n${repeat("| cell one | **two** |\n")}`,
  "one row of a table": `| a | b |\n|---|---|\n${repeat("| cell ")}`,
  "paragraphs of one letter": repeat("a\n\n"),
  "lines of one letter": repeat("a\n"),
  "open brackets": repeat("[a "),
  "an open bracket before many lines": repeat(`[\n${"a\n".repeat(2000)}`),
  "open emphasis": repeat("**a "),
  "open underscores": repeat("_a "),
  "open backquotes": repeat("`a``b "),
  "open angles": repeat("<a "),
  "open images": repeat("![a]("),
  escapes: repeat("\\*"),
  "blank lines": repeat("\n"),
  "quote marks": repeat("> > "),
  tabs: repeat("\t"),
  "an open table header": repeat("a | b. C "),
  HTML: `<div>\n${repeat("<b>text</b>\n")}`,
};

// Counted are the characters that each step reads: parsing, colouring, and searching for places
// where a text can be cut.
describe("the cost of a text in deltas of 4 characters", () => {
  for (const [name, text] of Object.entries(texts))
    it(`is linear for ${name}`, () => {
      let work = 0;
      let most = 0;
      const stream = createStream({
        colours: styled,
        onWork: (characters) => (work += characters),
      });
      for (let at = 0; at < text.length; at += 4) {
        const before = work;
        stream.push(text.slice(at, at + 4));
        most = Math.max(most, work - before);
        if (at % 10_000 === 0) {
          const counted = work;
          ok(stream.tail(12).length <= 12);
          ok(work - counted < 60_000, `the tail took ${work - counted}`);
          work = counted;
        }
      }
      stream.end();
      ok(
        work < 60 * text.length,
        `${(work / text.length).toFixed(1)} characters of work per character`,
      );
      ok(most < 60_000, `one delta took ${most}`);
    });
});
