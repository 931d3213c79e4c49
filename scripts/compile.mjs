// Runs a compiler of node_modules in a separate process.
import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { promisify } from "node:util";

const execute = promisify(execFile);
/** The time limit of one run, also on a busy machine. */
const TIME_LIMIT_MS = 300_000;

/** Resolves to the compiler's output if it reports errors, else to undefined. */
export function compile(compiler, args, cwd = ".") {
  const tsc = resolve("node_modules", compiler, "bin", "tsc");
  const options = { cwd, timeout: TIME_LIMIT_MS };
  return execute(process.execPath, [tsc, ...args, "--pretty", "false"], options).then(
    () => undefined,
    ({ message, stdout, stderr }) => stdout || stderr || message,
  );
}
