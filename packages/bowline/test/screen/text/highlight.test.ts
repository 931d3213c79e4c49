import { describe, it } from "node:test";
import { deepEqual, equal, match, ok } from "node:assert/strict";
import fc from "fast-check";
import { Highlighter } from "../../../src/screen/text/highlight.ts";
import { languageNamed, languageOfPath } from "../../../src/screen/text/languages.ts";
import { paintSpans } from "../../../src/screen/text/span.ts";
import { bare, plain, styled } from "./styles.ts";

function colour(language: string, code: string): string[] {
  const lines = new Highlighter(styled).start(language);
  ok(lines !== undefined);
  return code.split("\n").map((line) => paintSpans(lines.line(line)));
}

describe("Highlighter", () => {
  it("colours each line with the terminal's own colours", () => {
    const [row = ""] = colour("ts", 'const a = "x"; // why');
    match(row, /\u001b\[35mconst\u001b\[39m/);
    match(row, /\u001b\[32m"x"\u001b\[39m/);
    match(row, /\u001b\[2m\/\/ why\u001b\[22m/);
  });

  it("knows that a line is inside of a comment or a string, however long", () => {
    const rows = colour("js", `/*\n${"if (a) return;\n".repeat(300)}*/ if`);
    for (const row of rows.slice(0, -1)) match(row, /^\u001b\[2m.*\u001b\[22m$/);
    match(rows.at(-1) ?? "", /\u001b\[35mif\u001b\[39m$/);
    match(colour("python", '"""\nfor\n"""\nfor')[1] ?? "", /^\u001b\[32mfor/);
  });

  it("colours nothing of unknown languages, of long lines, or without colours", () => {
    equal(new Highlighter(styled).start("klingon"), undefined);
    equal(new Highlighter(styled).start("__proto__"), undefined);
    equal(new Highlighter(plain).start("ts"), undefined);
    const long = `const a = "${"x".repeat(2000)}";`;
    deepEqual(colour("ts", long), [long]);
  });

  it("loads the library and each language once, when it is needed", () => {
    const loaded: string[] = [];
    const load = (name: string): never => {
      loaded.push(name);
      throw new Error("no such module");
    };
    const highlighter = new Highlighter(styled, load);
    deepEqual(loaded, []);
    equal(highlighter.start("ts"), undefined);
    deepEqual(loaded, ["highlight.js/lib/core"]);
  });

  it("has every language of its list", () => {
    const code = "a = 1";
    for (const name of [
      "sh",
      "c",
      "c++",
      "c#",
      "docker",
      "golang",
      "hs",
      "toml",
      "jsonc",
      "kt",
      "make",
      "md",
      "objc",
      "ps1",
      "proto",
      "py",
      "rb",
      "rs",
      "tsx",
      "vue",
      "yml",
      "sql",
      "diff",
    ])
      deepEqual(colour(name, code).map(bare), [code], name);
    equal(languageNamed("TSX"), "typescript");
    equal(languageOfPath("src/a.test.py"), "python");
    equal(languageOfPath("Dockerfile"), "dockerfile");
    equal(languageOfPath("a/unknown"), undefined);
  });

  it("keeps the text as it is, for any lines", () => {
    const line = fc.oneof(
      fc.string(),
      fc.constantFrom("/*", "*/", "`${", "<div>", "</span>", "&lt;", "'", '"', "<script>", "{"),
    );
    fc.assert(
      fc.property(
        fc.constantFrom("ts", "html", "python", "bash", "css", "md"),
        fc.array(line),
        (language, lines) => {
          const text = lines.join("\n").replaceAll(/[\r\u001b]/g, "");
          equal(colour(language, text).map(bare).join("\n"), text);
        },
      ),
    );
  });
});
