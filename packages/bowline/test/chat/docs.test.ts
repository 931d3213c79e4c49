/** docs/chat.md has the keys and the commands of the source. */
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
