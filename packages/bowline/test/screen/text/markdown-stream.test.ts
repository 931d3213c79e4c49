import { describe, it } from "node:test";
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { SOFT_END } from "../../../src/screen/text/cell-flow.ts";
import { joinSoftRows } from "../../../src/screen/text/soft-rows.ts";
import { MarkdownStream } from "../../../src/screen/text/markdown-stream.ts";
import { createStream, draw, type DrawOptions } from "./draw.ts";
import { bare, plain, styled } from "./styles.ts";

/** Draws a text and compares its rows, written as one text. */
function check(text: string, rows: string, options?: DrawOptions): void {
  equal(draw(text, options).join("\n"), rows);
}

describe("MarkdownStream draws", () => {
  it("headings with their marks, so that the level shows without colours", () => {
    check(
      "# One\n## Two *x* ##\nText\n\nUnder\n=====\nBelow\n---\n",
      "# One\n## Two x\nText\n\n# Under\n## Below",
    );
  });

  it("emphasis as attributes, and marks what a terminal may not show", () => {
    check("**b** *i* ~~s~~ `c` ``a`b``", "b i ~~s~~ `c` ``a`b``");
    const [row = ""] = draw("**b _bi_** *i* ~~s~~ `c`", { colours: styled });
    equal(
      row,
      "\u001b[1mb \u001b[22m\u001b[3m\u001b[1mbi\u001b[22m\u001b[23m \u001b[3mi\u001b[23m ~~\u001b[9ms\u001b[29m~~ \u001b[36m`c`\u001b[39m",
    );
  });

  it("paragraphs as wrapped words, with hard breaks", () => {
    check(
      "one two three four\nfive six  \nseven\\\neight<br>nine",
      "one two three four\nfive six\nseven\neight\nnine",
      {
        columns: 20,
      },
    );
  });

  it("long words on several rows", () => {
    check(`a ${"x".repeat(25)} b`, `a\n${"x".repeat(10)}\n${"x".repeat(10)}\nxxxxx b`, {
      columns: 10,
    });
  });

  it("East Asian text and emoji by their cells", () => {
    check("你好世界，你好。 👩‍👩‍👧‍👦 ok", "你好世\n界，你\n好。 👩‍👩‍👧‍👦\nok", { columns: 8 });
    check("你好（**ab**）", "你好\n（ab）", { columns: 6 });
  });

  it("nested lists with numbers and boxes", () => {
    check(
      "3. three\n3. four\n   - [ ] todo\n   - [x] done and so on\n\n     more\n10. ten\n\nend",
      "3. three\n4. four\n   - [ ] todo\n   - [x] done and\n     so on\n\n     more\n5. ten\n\nend",
      { columns: 18 },
    );
  });

  it("items without text, and numbers in the middle of a paragraph as text", () => {
    check("-\n- a\n\nIt was\n1999. A year", "-\n- a\n\nIt was 1999. A year");
  });

  it("quotes with their mark on every row, also around code", () => {
    check(
      "> one two three\nfour\n> - item\n>\n> ```\n> code that is long\n> ```",
      "> one two\n> three four\n> - item\n>\n> ```\n> code that \n> ↪ is long\n> ```",
      {
        columns: 12,
      },
    );
  });

  it("deep nesting within the columns", () => {
    const rows = draw("> > > > > > > > > > - - - - - deep words", { columns: 20 });
    ok(rows.every((row) => row.length <= 20));
    match(rows.join(" "), /deep words/);
  });

  it("rules, HTML and link definitions as text", () => {
    check(
      "***\n<div>\n **raw**\n</div>\n\na <b>c</b>\n\n[1]: https://x.org",
      `${"-".repeat(40)}\n<div>\n **raw**\n</div>\n\na <b>c</b>\n\n[1]: https://x.org`,
    );
  });

  it("escapes and entities, but no control character that they name", () => {
    check("\\*a\\* &lt;&#65;&copy;&nope; &#27;[2J &#x202e;", "*a* <A©&nope; ␛[2J ␡");
    check("`&lt;`", "`&lt;`");
  });

  it("code as written, with its fences", () => {
    check(
      "```ts\n  a   b\n\tc\n\n**x**\n```\n    indented *x*",
      "```ts\n  a   b\n    c\n\n**x**\n```\n    indented *x*",
    );
  });

  it("blank lines as one", () => check("\n\na\n\n\n\nb\n\n", "a\n\nb"));
});

describe("MarkdownStream draws tables", () => {
  const table =
    "| Name | Count |  Note |\n|:--|--:|:-:|\n| a | 1 | x |\n| bb | 22 | `a\\|b` **y** |\n";

  it("with aligned columns", () => {
    check(
      table,
      "Name | Count |  Note\n-----|-----:-|-:-----:\na    |     1 |    x\nbb   |    22 | `a|b` y",
    );
  });

  it("with wrapped cells and lines between the rows", () => {
    check(
      "| k | text |\n|---|---|\n| a | one two three four five |\n| b | six |\n",
      "k  | text\n---|----------------\na  | one two three\n   | four five\n---+----------------\nb  | six",
      { columns: 20 },
    );
  });

  it("with wide characters wrapped, but punctuation beside its neighbour", () => {
    const around = (cell: string): string => `| word | b |\n|---|---|\n| x | ${cell} |\n`;
    check(around("世界世界。"), "word | b\n-----|------\nx    | 世界\n     | 世\n     | 界。", {
      columns: 12,
    });
    const asList = "word: x\nb: 「世」\n  「世」";
    check(around("「世」「世」"), asList, { columns: 12 });
  });

  it("as lists where they do not fit", () => {
    const wide =
      "| First column | Second column | Third | Fourth |\n|---|---|---|---|\n| alpha | beta | gamma | delta |\n| 1 | 2 | 3 | |";
    check(
      wide,
      "First column: alpha\nSecond column: beta\nThird: gamma\nFourth: delta\n\nFirst column: 1\nSecond column: 2\nThird: 3\nFourth:",
      { columns: 30 },
    );
  });

  it("in parts if they are long", () => {
    const stream = createStream();
    const early = stream.push(`| a | b |\n|---|---|\n${"| cell | x |\n".repeat(99)}`);
    deepEqual(early, []);
    equal(stream.tail(4).length, 4);
    equal(stream.push("| cell | x |\n").length, 102);
    deepEqual(stream.push("| next | y |\n"), ["next | y"]);
    deepEqual(stream.end(), []);
  });
});

describe("MarkdownStream draws, where a block depends on the line before it,", () => {
  it("a table with a long header, but none below the end of a cut line", () => {
    const long = "A header of some words. ".repeat(8).trim();
    const rows = draw(`| ${long} | b |\n|---|---|\n| 1 | 2 |`, { columns: 300 });
    deepEqual(
      rows
        .at(-1)
        ?.split("|")
        .map((cell) => cell.trim()),
      ["1", "2"],
    );
    const text = draw(`${long} a | b\n|---|---|`, { columns: 300 });
    deepEqual(text, [`${long} a | b |---|---|`]);
  });

  it("a table or a heading in an item, with the marker of the item", () => {
    check("- a1 | b1\n  ---|---\n  1 | 2", "- a1 | b1\n  ---|---\n  1  | 2");
    check("- Title\n  ===\n  text", "- # Title\n  text");
  });

  it("rows of a long table that do not fit its columns as a list", () => {
    const start = `| a1 | b1 |\n|---|---|\n${"| x | y |\n".repeat(100)}`;
    const rows = draw(`${start}| ${"long".repeat(4)} | y |`, { columns: 20 });
    deepEqual(rows.slice(-3), ["", `a1: ${"long".repeat(4)}`, "b1: y"]);
  });

  it("a table of long cells before its end", () => {
    const stream = createStream();
    const row = `| ${"word ".repeat(250)} | b |\n`;
    ok(stream.push(`| a | b |\n|---|---|\n${row.repeat(20)}`).length > 20);
  });
});

describe("MarkdownStream draws links", () => {
  it("as text with the address, where a terminal may not know links", () => {
    check(
      "[docs](https://x.org/a?b&amp;c) <https://y.org> www.z.org <me@x.org> ![alt](i.png) [file](src/a.ts)",
      "docs (https://x.org/a?b&c) https://y.org www.z.org me@x.org [image: alt] (i.png) file (src/a.ts)",
      { columns: 200 },
    );
  });

  it("as hyperlinks, repeated on each row", () => {
    const rows = draw("[one two](https://x.org/a)", {
      columns: 8,
      colours: styled,
      linkStyle: "osc8",
    });
    const linked = draw("[one two three](https://x.org/a)", {
      columns: 8,
      colours: styled,
      linkStyle: "osc8",
    });
    deepEqual(rows.map(bare), ["one two"]);
    deepEqual(linked.map(bare), ["one two", "three"]);
    for (const row of linked)
      match(row, /^\u001b\]8;id=(\w+);https:\/\/x\.org\/a\u001b\\.*\u001b\]8;;\u001b\\$/);
  });

  it("with the address if the text names another host", () => {
    const osc8 = { colours: styled, linkStyle: "osc8" } as const;
    deepEqual(draw("[google.com](https://evil.test/)", osc8).map(bare), [
      "google.com (https://evil.test/)",
    ]);
    deepEqual(draw("[www.x.org](https://x.org/)", osc8).map(bare), ["www.x.org"]);
    deepEqual(draw("[gооgle.com](https://google.com/)", osc8).map(bare), [
      "gооgle.com (https://google.com/)",
    ]);
  });

  it("to the web and to mail only", () => {
    const osc8 = { colours: styled, linkStyle: "osc8" } as const;
    for (const address of [
      "javascript:x",
      "file:///etc/passwd",
      "vscode://x",
      "https://a@b.org/",
    ]) {
      const [row = ""] = draw(`[t](${address})`, osc8);
      equal(bare(row), `t (${address})`);
      ok(!row.includes("\u001b]8;"));
    }
  });

  it("as text if the colours have no links, whatever the style says", () => {
    check("[t](https://x.org/)", "t (https://x.org/)", { linkStyle: "osc8", colours: plain });
  });
});

describe("MarkdownStream, while a text arrives", () => {
  it("finishes lines of code and list items one by one", () => {
    const stream = createStream();
    deepEqual(stream.push("```\none\ntw"), ["```", "one"]);
    deepEqual(stream.tail(5), ["tw"]);
    deepEqual(stream.push("o\n```\n- a\n- b"), ["two", "```"]);
    deepEqual(stream.push("\n- c"), ["- a"]);
    deepEqual(stream.end(), ["- b", "- c"]);
  });

  it("finishes the rows of a long paragraph before its end", () => {
    const stream = createStream({ columns: 40 });
    const rows = stream.push("This is a sentence of a long paragraph. ".repeat(20));
    ok(rows.length >= 10, `${rows.length} rows`);
    ok(stream.tail(100).length <= 8);
  });

  it("keeps emphasis that goes over sentences", () => {
    const long = "A sentence of many words, in bold type. ".repeat(10).trim();
    const rows = draw(`Start. **${long}** end.`, { colours: styled, columns: 80 });
    for (const row of rows) ok(row.includes("\u001b[1m"), JSON.stringify(rows));
    ok(!rows.map(bare).join(" ").includes("**"));
  });

  it("shows the rows of a table so far in the tail", () => {
    const stream = createStream();
    deepEqual(stream.push("| a | b |\n|---|---|\n| 1 | 2 |\n| 3"), []);
    deepEqual(stream.tail(10), ["a  | b", "---|---", "1  | 2", "3  |"]);
    deepEqual(stream.tail(1), ["3  |"]);
  });

  it("uses the width at the start of each block", () => {
    let columns = 8;
    const stream = new MarkdownStream({
      colours: plain,
      linkStyle: "text",
      columns: () => columns,
    });
    deepEqual(stream.push("one two three\n\n"), ["one two", "three"]);
    columns = 20;
    deepEqual([...stream.push("one two three"), ...stream.end()], ["", "one two three"]);
  });
});

describe("wrapped code", () => {
  const line = "const answer = compute(1, 2, 3);";

  it("has an inverse cell as mark, and joins to the line as it was", () => {
    const rows = draw(`\`\`\`\n${line}\n\`\`\``, { columns: 20, colours: styled });
    deepEqual(rows.map(bare), ["```", line.slice(0, 20), line.slice(20), "```"]);
    equal(rows[1], `${line.slice(0, 19)}\u001b[7m${line[19]}\u001b[27m${SOFT_END}`);
    deepEqual(joinSoftRows(rows).map(bare), ["```", line, "```"]);
  });

  it("has an arrow as mark where styles are off", () => {
    deepEqual(draw(`\`\`\`\n${line}\n\`\`\``, { columns: 20 }), [
      "```",
      line.slice(0, 20),
      `↪ ${line.slice(20)}`,
      "```",
    ]);
  });
});
