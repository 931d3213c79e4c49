// A file that a script makes and the repository holds.
import { existsSync, readFileSync, writeFileSync } from "node:fs";

/**
 * Writes the file with `--write`. Without, reports a file that differs and sets the exit code;
 * `command` makes it anew. `normalise` removes what a formatter changes. Default: nothing.
 */
export function keepMade(file, text, command, normalise = (content) => content) {
  if (process.argv.includes("--write")) {
    writeFileSync(file, text);
    return;
  }
  const content = existsSync(file) ? readFileSync(file, "utf8") : "";
  if (normalise(content) === normalise(text)) return;
  console.error(`${file} is stale. Run ${command}`);
  process.exitCode = 1;
}
