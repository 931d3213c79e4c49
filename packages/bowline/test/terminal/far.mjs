// node far.mjs <ms> <command> [args...]: runs a command on a pseudo-terminal that is a connection
// away: each byte takes the given time, in each direction. The window's size follows at once.
import { execFile, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const [delayMs, ...command] = process.argv.slice(2);
const delay = Number(delayMs);
const folder = mkdtempSync(join(tmpdir(), "bowline-far-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
const tty = join(folder, "tty");

const size = () => `cols ${process.stdout.columns} rows ${process.stdout.rows}`;
const quoted = command.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
const line = `stty ${size()}; tty > '${tty}'; exec ${quoted}`;
const child = spawn("script", ["-qefc", line, "/dev/null"], {
  stdio: ["pipe", "pipe", "inherit"],
});

process.stdin.setRawMode?.(true);
carry(process.stdin, (bytes) => child.stdin.write(bytes));
carry(child.stdout, (bytes) => process.stdout.write(bytes));
process.stdout.on("resize", () => {
  const device = readFileSync(tty, "utf8").trim();
  execFile("stty", ["-F", device, ...size().split(" ")]);
});
// Without this the program outlives its window.
for (const signal of ["SIGHUP", "SIGTERM"])
  process.once(signal, () => {
    child.kill("SIGTERM");
    process.exit(1);
  });
child.on("close", (code) => setTimeout(() => process.exit(code ?? 1), 2 * delay));

/** Timers of one length fire in the order in which they were set. */
function carry(from, to) {
  from.on("data", (bytes) => setTimeout(() => to(bytes), delay));
}
