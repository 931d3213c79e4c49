/**
 * The pages about agents quote their examples, and docs/limits.md gives the defaults of the
 * docstrings.
 */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { it } from "node:test";

const root = join(import.meta.dirname, "../../../..");
const read = (path: string): Promise<string> => readFile(join(root, path), "utf8");

for (const [page, example] of [
  ["docs/sub-agents.md", "examples/14-sub-agents.ts"],
  ["docs/structured-output.md", "examples/15-structured-output.ts"],
  ["docs/files.md", "examples/21-files.ts"],
] as const)
  it(`${page} quotes ${example}`, async () => {
    const blocks = [...(await read(page)).matchAll(/^```ts\n(.*?)^```/gms)].map(([, code]) => code);
    assert.ok(blocks.includes(await read(example)));
  });

it("the page about limits lists each option with the default of its docstring", async () => {
  const types =
    (await read("packages/core/src/agent/contract/hooks.ts")) +
    (await read("packages/core/src/llm/model.ts"));
  const rows = [
    ...(await read("docs/limits.md")).matchAll(/^\| `(?:timeouts\.)?(\w+)` +\| (.+?) +\|/gm),
  ];
  assert.equal(rows.length, 11);
  for (const [, option = "", value = ""] of rows) {
    const docstring = new RegExp(
      `/\\*\\*((?:(?!\\*/).)*)\\*/\\s+(?://[^\n]*\\s+)?${option}\\?: number(?: \\| undefined)?;`,
      "s",
    ).exec(types)?.[1];
    const words = docstring?.replaceAll(/\s+\*\s+/g, " "); // a sentence may have several lines
    assert.match(words ?? "", new RegExp(`Default:? ${value}\\b(?!,)`), option);
  }
});
