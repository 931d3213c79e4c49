// npm run bench: every *.bench.ts of this folder, from source. `npm run bench -- sse` narrows by
// name.
import { globSync } from "node:fs";
import { join } from "node:path";
import { run } from "mitata";

const words = process.argv.slice(2);
const files = globSync("*.bench.ts", { cwd: import.meta.dirname })
  .filter((file) => words.length === 0 || words.some((word) => file.includes(word)))
  .toSorted();
if (files.length === 0) {
  console.error("no benchmark matches");
  process.exit(1);
}
for (const file of files) await import(join(import.meta.dirname, file));
await run();
