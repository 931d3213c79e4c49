/** docs/web.md quotes programs that ui-tests run in a browser. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { it } from "node:test";

const root = join(import.meta.dirname, "../../../..");

it("the page about useChat quotes the servers on Hono", async () => {
  const page = await readFile(join(root, "docs/web.md"), "utf8");
  for (const name of ["use-chat-hono.ts", "use-chat-cluster.ts"]) {
    const program = await readFile(join(root, "examples/programs", name), "utf8");
    assert.ok(page.includes(`\`\`\`ts\n${program}\`\`\``), name);
  }
});
