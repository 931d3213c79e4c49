// The tests of this folder, if its packages are installed: `npm run ui` installs them.
import { spawnSync } from "node:child_process";
import { existsSync, globSync } from "node:fs";
import { join } from "node:path";

if (existsSync(join(import.meta.dirname, "node_modules/ai"))) {
  const files = globSync(join(import.meta.dirname, "*.test.mjs"));
  const options = ["--conditions=@bowline/source", "--test", "--test-concurrency=1"];
  const limit = "--test-timeout=600000"; // no test takes so long: it hangs, and is named
  const { status } = spawnSync(process.execPath, [...options, limit, ...files], {
    stdio: "inherit",
  });
  process.exitCode = status ?? 1;
} else console.log("skipped: the AI SDK is not installed here. Run `npm run ui`.");
