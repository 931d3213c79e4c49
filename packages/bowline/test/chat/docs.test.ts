/** docs/chat.md has the keys and the commands of the source, and the named tests exist. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { slashCommands } from "../../src/chat/commands/index.ts";
import { keyBindings, sendKeys } from "../../src/chat/keys.ts";

const page = readFileSync(join(import.meta.dirname, "../../../../docs/chat.md"), "utf8");

/** The cells of the table below a heading. */
function table(heading: string): string[][] {
  const section = page.split(`\n## ${heading}\n`)[1]?.split("\n## ")[0] ?? "";
  const rows = section.split("\n").filter((line) => line.startsWith("| "));
  return rows.slice(2).map((row) =>
    row
      .replaceAll("\\|", "\0")
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll("\0", "|")),
  );
}

test("docs/chat.md lists the keys of the source", () => {
  const keys = [...sendKeys, ...keyBindings].map(({ label, help }) => [label, help]);
  assert.deepEqual(table("Keys"), keys);
});

test("docs/chat.md lists the commands of the source", () => {
  const commands = slashCommands.map(({ name, takes, help }) => [
    `\`/${name}${takes === undefined ? "" : ` ${takes}`}\``,
    help,
  ]);
  assert.deepEqual(table("Commands"), commands);
});

test("docs/project/terminal-features.md has twenty rules, and each names a test that exists", () => {
  const file = "../../../../docs/project/terminal-features.md";
  const features = readFileSync(join(import.meta.dirname, file), "utf8");
  const rules = features.split("\n").filter((line) => /^\| \d+ /.test(line));
  assert.equal(rules.length, 20);
  for (const line of features.split("\n").filter((row) => row.startsWith("|"))) {
    let source = "";
    for (const [, path, title] of line.matchAll(/`([\w/-]+\.test\.ts)`|"([^"]{20,})"/g)) {
      if (path !== undefined) source = readFileSync(join(import.meta.dirname, "..", path), "utf8");
      else if (source !== "" && title !== undefined) assert.ok(hasTest(source, title), title);
    }
    if (rules.includes(line)) assert.notEqual(source, "", line);
  }
});

/** A title may be a template. */
function hasTest(source: string, title: string): boolean {
  const titles = [...source.matchAll(/(?:it|test)\(\s*(["`])(.+?)\1,/g)].map(
    ([, , text = ""]) => text,
  );
  return titles.some((text) => {
    const parts = text.split(/\$\{[^}]*\}/);
    return title.startsWith(parts[0] ?? "") && title.endsWith(parts.at(-1) ?? "");
  });
}
