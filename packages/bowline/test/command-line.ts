/**
 * Starts the command from source: the bundle that `npm test` makes of it, or else its source files.
 */
import { join } from "node:path";

const { BOWLINE_TEST_COMMAND: bundled } = process.env;

/** The program and its first arguments; those of the command follow. */
export const commandLine: readonly string[] =
  bundled === undefined
    ? [
        process.execPath,
        "--conditions=@bowline/source",
        join(import.meta.dirname, "../src/cli/main.ts"),
      ]
    : [process.execPath, bundled];
