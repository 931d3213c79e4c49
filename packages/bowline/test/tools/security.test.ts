import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";

const docs = join(import.meta.dirname, "../../../../docs");

interface Row {
  readonly tried: string;
  readonly file: string;
  readonly title: string;
}

/** Reads the rows of all tables: the attack, and the test in the last cell, as "[file] title". */
function readRows(): Row[] {
  const text = readFileSync(join(docs, "security.md"), "utf8");
  const rows = text
    .split("\n")
    // The rows about rules are checked by path-rules.test.ts and escapes.test.ts of the policy.
    .filter((line) => /^\| (?!(?:Tried|Rule|-+) +\||`(?:deny|ask) )/.test(line))
    .filter((line) => !/` +\| (?:asked about|denied|left out) +\|$/.test(line));
  return rows.map((line) => {
    const [, tried = "", , test = "", ...rest] = line.split("|").map((cell) => cell.trim());
    const [, name = "", title = ""] = /^\[([a-z]+)\] (.+)$/.exec(test) ?? [];
    const file = new RegExp(`^\\[${name}\\]: (.+)$`, "m").exec(text)?.[1];
    assert.ok(
      file !== undefined && title !== "" && rest.join("") === "",
      `a row without its test: ${line}`,
    );
    return { tried, file, title };
  });
}

function titlesOf(file: string): string[] {
  return [...readFileSync(file, "utf8").matchAll(/^(?: {2}it|test)\(\s*"([^"]+)"/gm)].map(
    ([, title = ""]) => title,
  );
}

describe("docs/security.md", () => {
  it("names an existing test in each row", () => {
    const rows = readRows();
    assert.ok(rows.length > 40, `${rows.length} rows`);
    for (const { tried, file, title } of rows) {
      assert.ok(
        titlesOf(join(docs, file)).includes(title),
        `${tried}: no test "${title}" in ${file}`,
      );
    }
  });

  it("has a row for every escape test", () => {
    const titles = new Set(readRows().map(({ title }) => title));
    const tried = titlesOf(join(import.meta.dirname, "escapes.test.ts"));
    assert.ok(tried.length > 10);
    assert.deepEqual(
      tried.filter((title) => !titles.has(title)),
      [],
    );
  });
});
