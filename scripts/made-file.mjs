// Writes or checks a generated file of the repository.
import { existsSync, readFileSync, writeFileSync } from "node:fs";

/**
 * Writes the file with `--write`. Otherwise reports a stale file, with the `command` that
 * regenerates it, and sets the exit code. `normalise` removes the changes of a formatter before the
 * comparison. Default: no change.
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
