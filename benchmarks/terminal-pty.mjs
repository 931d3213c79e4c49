// A program on a pseudo-terminal, with its output as it arrives, its processor time and its memory.
// Linux only: it needs `script` of util-linux and /proc.
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const TICKS_PER_SECOND = 100;
const LIMIT_MS = 60_000;

export function openPty({ command, cwd, env, columns = 100, rows = 36 }) {
  const folder = mkdtempSync(join(tmpdir(), "bowline-pty-"));
  const pidFile = join(folder, "pid");
  const quoted = command.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
  const line = `stty cols ${columns} rows ${rows}; echo $$ >'${pidFile}'; exec ${quoted}`;
  const started = performance.now();
  const child = spawn("script", ["-qefc", line, "/dev/null"], {
    cwd,
    env: { PATH: process.env.PATH, TERM: "xterm-256color", SHELL: "/bin/sh", ...env },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = new Promise((resolve) => child.once("close", resolve));
  void ended.then(() => rmSync(folder, { recursive: true, force: true }));
  let output = "";
  let bytes = 0;
  const waiting = new Set();
  child.stdout.on("data", (part) => {
    bytes += part.length;
    output += part.toString("utf8");
    for (const look of waiting) look();
  });
  child.stdin.on("error", () => {});
  const pid = () => Number(readFileSync(pidFile, "utf8"));
  return {
    started,
    ended,
    write: (text) => child.stdin.write(text),
    /** The output so far, and its length in bytes. */
    output: () => output,
    bytes: () => bytes,
    /** Resolves with the time at which the output from `from` on matches. */
    until: (pattern, from = 0) =>
      new Promise((resolve, reject) => {
        const limit = setTimeout(() => {
          waiting.delete(look);
          reject(new Error(`No ${pattern} in ${JSON.stringify(output.slice(-2000))}`));
        }, LIMIT_MS);
        const look = () => {
          const part = output.slice(from);
          if (typeof pattern === "string" ? !part.includes(pattern) : !pattern.test(part)) return;
          clearTimeout(limit);
          waiting.delete(look);
          resolve(performance.now());
        };
        waiting.add(look);
        look();
      }),
    /** Resolves when a condition is true. */
    when: async (isSo) => {
      const deadline = performance.now() + LIMIT_MS;
      while (!isSo()) {
        if (performance.now() > deadline) throw new Error(JSON.stringify(output.slice(-2000)));
        await new Promise((resolve) => setTimeout(resolve, 3));
      }
    },
    /** Resolves when nothing has been written for some time. */
    quiet: async (ms) => {
      for (let seen = -1; seen !== bytes;) {
        seen = bytes;
        await new Promise((resolve) => setTimeout(resolve, ms));
      }
    },
    /** Sends a signal to the program. */
    signal: (name) => process.kill(pid(), name),
    /** The processor time of the program and its children, in milliseconds. */
    cpuMs: () => sum(treeOf(pid()), cpuOf),
    /** The resident memory of the program and its children, in MB. */
    rssMb: () => sum(treeOf(pid()), rssOf),
    async close() {
      for (const one of treeOf(pid()).toReversed()) {
        try {
          process.kill(one, "SIGKILL");
        } catch {
          // It ended by itself.
        }
      }
      await ended;
    },
  };
}

function treeOf(root) {
  const parents = new Map();
  for (const name of readdirSync("/proc")) {
    if (/^\d+$/.test(name)) parents.set(Number(name), Number(fieldsOf(name)?.[1]));
  }
  const tree = [root];
  for (const one of tree)
    tree.push(...[...parents].filter(([, parent]) => parent === one).map(([pid]) => pid));
  return tree;
}

/** The fields of /proc/<pid>/stat after the program's name: state, parent and so on. */
function fieldsOf(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    return text.slice(text.lastIndexOf(")") + 2).split(" ");
  } catch {
    return undefined;
  }
}

function cpuOf(pid) {
  const fields = fieldsOf(pid) ?? [];
  // User and system time, with those of ended children.
  return (
    (fields.slice(11, 15).reduce((total, one) => total + Number(one), 0) * 1000) / TICKS_PER_SECOND
  );
}

function rssOf(pid) {
  try {
    const [, kb = "0"] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return Number(kb) / 1024;
  } catch {
    return 0;
  }
}

function sum(pids, measure) {
  return pids.reduce((total, pid) => total + measure(pid), 0);
}
