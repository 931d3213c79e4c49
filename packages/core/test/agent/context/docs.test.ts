/** docs/context.md quotes examples/08-long-conversation.ts, which prints what the page says. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { it } from "node:test";
import { promisify } from "node:util";

const root = join(import.meta.dirname, "../../../../..");
const example = "examples/08-long-conversation.ts";

it("the page about long conversations quotes its example", async () => {
  const page = await readFile(join(root, "docs/context.md"), "utf8");
  const source = await readFile(join(root, example), "utf8");
  assert.equal(/```ts\n(.*?)```/s.exec(page)?.[1], source);
});

it("the example of a long conversation prints what the page says", async () => {
  const source = await readFile(join(root, example), "utf8");
  const run = promisify(execFile);
  const { stdout } = await run(process.execPath, ["--conditions=@bowline/source", example], {
    cwd: root,
  });
  assert.equal(stdout, /\/\* Prints:\n(.*)\*\//s.exec(source)?.[1]);
});
