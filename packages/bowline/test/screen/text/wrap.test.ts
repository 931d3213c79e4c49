import { describe, it } from "node:test";
import { deepEqual, equal, ok } from "node:assert/strict";
import fc from "fast-check";
import { wrapCode } from "../../../src/screen/text/wrap-code.ts";
import { wrapStyled } from "../../../src/screen/text/wrap.ts";
import { textWidth } from "../../../src/screen/width.ts";
import { bare, leftOpen, plain, styled } from "./styles.ts";

describe("wrapStyled", () => {
  it("breaks at words and repeats the open styles on each row", () => {
    deepEqual(wrapStyled(`\u001b[1mone \u001b[31mtwo\u001b[39m three\u001b[22m four`, 8), [
      "\u001b[1mone \u001b[0m\u001b[1m\u001b[31mtwo\u001b[0m",
      "\u001b[1mthree\u001b[0m",
      "four",
    ]);
  });

  it("closes a link at the end of each row and opens it on the next", () => {
    const rows = wrapStyled(styled.link("one two", "https://x.org/"), 4);
    deepEqual(rows.map(bare), ["one", "two"]);
    for (const row of rows) deepEqual(leftOpen(row), []);
    ok(rows.every((row) => row.includes(";https://x.org/\u001b\\")));
  });

  it("indents, with a mark before the first row", () => {
    deepEqual(wrapStyled("one two three", 9, { indent: 1, mark: "- " }), [
      " - one",
      "   two",
      "   three",
    ]);
    deepEqual(wrapStyled("", 9, { mark: "- " }), ["-"]);
    deepEqual(wrapStyled("", 9), [""]);
  });

  it("breaks words that are wider than the rows after the first", () => {
    deepEqual(wrapStyled("a 12345678", 8, { indent: 0 }), ["a", "12345678"]);
    deepEqual(wrapStyled("a 1234567", 8, { mark: "" }), ["a", "1234567"]);
    deepEqual(wrapStyled("a\t你好你好你好", 8), ["a 你好你", "好你好"]);
  });

  it("keeps a mark that is wider than the row", () => {
    equal(
      wrapStyled("text", 10, { mark: "a very long mark" }).join("").replaceAll(" ", ""),
      "averylongmarktext",
    );
  });

  it("leaves out escapes that are no styles", () => {
    deepEqual(wrapStyled("a\u001b[2Jb\u001b]0;title\u0007c", 10), ["abc"]);
  });

  it("keeps all characters within the columns, for any text", () => {
    const part = fc.oneof(
      fc.stringMatching(/^[a-z]{1,30}$/),
      fc.constantFrom(
        "你好",
        "👩‍👩‍👧‍👦",
        " ",
        "  ",
        "\t",
        "\u001b[1m",
        "\u001b[0m",
        "\u001b[38;5;9m",
        "。",
        "「",
      ),
    );
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 30 }),
        fc.integer({ min: 4, max: 50 }),
        fc.nat(20),
        (parts, columns, indent) => {
          const text = parts.join("");
          const rows = wrapStyled(text, columns, { indent });
          const flat = (styles: string): string => bare(styles).replaceAll(/\s/g, "");
          equal(flat(rows.join("")), flat(text));
          for (const row of rows) {
            ok(textWidth(row) <= columns, row);
            deepEqual(leftOpen(row), []);
          }
        },
      ),
    );
  });
});

describe("wrapCode", () => {
  it("keeps spaces, expands tabs and marks the rows that go on", () => {
    deepEqual(wrapCode("a  b\tc", 20, plain, "$ "), ["$ a  b    c"]);
    deepEqual(wrapCode("0123456789", 8, plain, "$ "), ["$ 012345", "  ↪ 6789"]);
  });
});
