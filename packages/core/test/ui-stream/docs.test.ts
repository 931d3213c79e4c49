/** docs/web.md quotes a program that ui-tests run in a browser. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { it } from "node:test";

const root = join(import.meta.dirname, "../../../..");

it("the page about useChat quotes the server on Hono", async () => {
  const page = await readFile(join(root, "docs/web.md"), "utf8");
  const program = await readFile(join(root, "examples/programs/use-chat-hono.ts"), "utf8");
  assert.ok(page.includes(`\`\`\`ts\n${program}\`\`\``));
});
