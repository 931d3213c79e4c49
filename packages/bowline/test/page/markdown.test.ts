import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { Marked } from "marked";
import { safeLink } from "../../src/page/text/link.ts";
import { createMarkdownReader, type MarkdownReader } from "../../src/page/text/markdown.ts";
import { noPieces, readAll, readMore, type Pieces } from "../../src/page/text/pieces.ts";

const reader = createMarkdownReader();

/** Returns the HTML of a whole text. */
const htmlOf = (text: string): string =>
  readAll(text, reader)
    .all.map((piece) =>
      piece.type === "html" ? piece.html : `<code:${piece.language}>${piece.code}`,
    )
    .join("");

const grown = (chunks: readonly string[], own: MarkdownReader = reader): Pieces => {
  let [pieces, text] = [noPieces, ""];
  for (const chunk of chunks) pieces = readMore(pieces, (text += chunk), own);
  return pieces;
};

const block = fc.constantFrom(
  "A paragraph with **bold** and `code`.",
  "Two\nlines",
  "# Heading",
  "Underlined\n---",
  "- one\n- two\n  - deeper\n\n  more of it",
  "1. first\n\n2. second",
  "```js\nlet a = 1;\n\n# no heading\n```",
  "~~~\nopen",
  "    indented\n\n    code",
  "> quote\n> - list",
  "| a | b |\n|---|:-:|\n| 1 | 2 |",
  "<div>\nraw\n</div>",
  "<!-- note -->",
  "***",
  "- [ ] to do\n- [x] done",
  "*open",
  "text\n    not code",
  "",
);

describe("a growing text", () => {
  it("gives the same blocks however it is split into chunks", () => {
    const texts = fc.tuple(
      fc.array(block, { maxLength: 8 }),
      fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 }),
      fc.constantFrom("\n", "\r\n", "\r"),
    );
    fc.assert(
      fc.property(texts, ([blocks, lengths, lineEnd]) => {
        const text = blocks.join("\n\n").replaceAll("\n", lineEnd);
        const chunks: string[] = [];
        for (let at = 0; at < text.length;) {
          const length = lengths[chunks.length % lengths.length] as number;
          chunks.push(text.slice(at, at + length));
          at += length;
        }
        assert.deepEqual(grown(chunks).all, readAll(text, reader).all);
      }),
      { numRuns: 400 },
    );
  });

  it("is parsed again only at its end, so a long answer takes linear time", () => {
    let characters = 0;
    const counting: MarkdownReader = {
      tokens: (text) => {
        characters += text.length;
        return reader.tokens(text);
      },
      toHtml: (token) => reader.toHtml(token),
    };
    const paragraphs = Array.from(
      { length: 400 },
      (_, index) => `Paragraph ${index} of a long answer, with some words.\n\n`,
    );
    const pieces = grown(paragraphs, counting);
    assert.equal(pieces.all.length, 400);
    assert.ok(characters < 5 * paragraphs.join("").length, `${characters} characters were read`);
  });

  it("keeps finished blocks as the same objects, so that they are not drawn again", () => {
    const first = grown(["One.\n\n", "Two.\n\n", "Three.\n\n"]);
    const second = readMore(first, `${first.text}More`, reader);
    assert.equal(second.all[0], first.all[0]);
  });

  it("is parsed from the start when the text is a different one", () => {
    const first = grown(["One.\n\n", "Two.\n\n", "Three.\n\n", "Four."]);
    assert.deepEqual(readMore(first, "Else.", reader).all, readAll("Else.", reader).all);
  });

  it("is shown as source when it is too deeply nested, without affecting later text", () => {
    for (const text of [
      ">".repeat(50_000),
      `${"- ".repeat(20_000)}x`,
      `1. ${"> + ".repeat(200)}x`,
    ]) {
      assert.equal(
        readAll(text, reader)
          .all.map((piece) => (piece.type === "code" ? piece.code : ""))
          .join(""),
        text,
      );
      assert.deepEqual(
        grown([text.slice(0, 40_000), text.slice(40_000)]).all,
        readAll(text, reader).all,
      );
    }
    assert.equal(htmlOf("*fine*").trim(), "<p><em>fine</em></p>");
  });

  it("skips inline parsing of an overlong paragraph, and emphasis over a long stretch", () => {
    const long = "_a* &".repeat(2001);
    assert.equal(
      htmlOf(`${long}\n\n_b_`),
      `<p>${long.replaceAll("&", "&amp;")}</p>\n<p><em>b</em></p>\n`,
    );
    for (const [mark, tag] of [
      ["_", "em"],
      ["**", "strong"],
      ["~~", "del"],
    ] as const) {
      const emphasized = (length: number): string => `${mark}${"ab ".repeat(length / 3)}c${mark}`;
      assert.equal(htmlOf(emphasized(900)), `<p><${tag}>${"ab ".repeat(300)}c</${tag}></p>\n`);
      assert.equal(htmlOf(emphasized(1200)), `<p>${emphasized(1200)}</p>\n`);
    }
  });

  it("is parsed as by plain marked when short, whatever limits apply to long texts", () => {
    const plain = new Marked({ gfm: true });
    const piece = fc.constantFrom(
      ..."_ * ** *** ~ ~~ ` [ ]( ) ![ < > & \\ a é 1 . ! | - \n www. http://b.c <b>".split(" "),
      " ",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 100 }), (pieces) => {
        const text = pieces.join("");
        assert.deepEqual(reader.tokens(text), plain.lexer(text));
      }),
      { numRuns: 2000 },
    );
  });

  it("resolves a link defined after its use once the text is complete", () => {
    assert.match(
      htmlOf("See [this].\n\nMore.\n\n[this]: https://example.com/a"),
      /href="https:\/\/example\.com\/a"/,
    );
  });
});

describe("markdown of a model", () => {
  it("turns images into links", () => {
    const html = htmlOf(
      '![a <b> "c"](https://example.com/x.png) ![](https://example.com/y.png) ![no](data:image/png;base64,AA)',
    );
    assert.doesNotMatch(html, /<img|data:/);
    assert.match(
      html,
      /<a href="https:\/\/example\.com\/x\.png">\[image: a &#60;b&#62; &#34;c&#34;\]<\/a>/,
    );
    assert.match(html, />\[image: https:\/\/example\.com\/y\.png\]</);
    assert.match(html, /\[image: no\]/);
  });

  it("puts headings below those of the page, and shows tasks as text", () => {
    assert.equal(htmlOf("# One"), "<h3>One</h3>");
    assert.equal(htmlOf("###### Six"), "<h6>Six</h6>");
    assert.match(htmlOf("- [x] done"), /☑/);
    assert.doesNotMatch(htmlOf("- [x] done"), /<input/);
  });

  it("shows the model's HTML as text, except for harmless inline tags", () => {
    assert.equal(htmlOf("<div onclick=x>a</div>"), "<p>&#60;div onclick=x&#62;a&#60;/div&#62;</p>");
    assert.equal(htmlOf("a <img src=x> b"), "<p>a &#60;img src=x&#62; b</p>\n");
    assert.equal(
      htmlOf("H<sub>2</sub>O<br/>x <b class=x>y"),
      "<p>H<sub>2</sub>O<br/>x &#60;b class=x&#62;y</p>\n",
    );
  });

  it("shows code as text with its language, if that is one word", () => {
    assert.equal(htmlOf("```ts title=x\n<b>\n```"), "<code:ts><b>");
    assert.equal(htmlOf('```"><img/src=x>\nx\n```'), "<code:>x");
  });
});

describe("a link", () => {
  it("may lead to the web or to a mailbox", () => {
    assert.equal(safeLink("https://example.com/a?b#c"), "https://example.com/a?b#c");
    assert.equal(safeLink("HTTP://Example.com"), "http://example.com/");
    assert.equal(safeLink("mailto:a@example.com"), "mailto:a@example.com");
  });

  for (const href of [
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    " javascript:alert(1)",
    "java\nscript:alert(1)",
    "\u0001javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "vbscript:x",
    "file:///etc/passwd",
    "blob:https://example.com/x",
    "ws://example.com",
    "tel:+1",
    "#token=stolen",
    "/api/chat",
    "//example.com",
    "relative",
    "",
    "https://",
    "https://bank.example@evil.example/",
  ])
    it(`may not be ${JSON.stringify(href)}`, () => assert.equal(safeLink(href), undefined));
});
