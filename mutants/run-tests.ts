/** Test files in a process of their own, up to their first failure or a limit of time. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { emptyScratch, type Tree } from "./tree.ts";

export type Outcome = "passed" | "failed" | "late";

export interface TestRun {
  readonly outcome: Outcome;
  readonly ms: number;
  /** The failed test's title, as far as one was reported. */
  readonly failure?: string;
}

interface Limits {
  readonly limitMs: number;
  readonly signal: AbortSignal;
  readonly env?: Readonly<Record<string, string>>;
}

export async function runTests(
  tree: Tree,
  files: readonly string[],
  { limitMs, signal, env }: Limits,
): Promise<TestRun> {
  signal.throwIfAborted();
  const started = performance.now();
  const child = spawn(process.execPath, [...flags, ...files], {
    cwd: tree.root,
    env: { ...inherited(), TMPDIR: tree.scratch, HOME: tree.scratch, ...env },
    stdio: ["ignore", "pipe", "ignore"],
    // A group of its own, with which what the tests started is killed too.
    detached: true,
  });
  const closed = once(child, "close");
  let failure: string | undefined;
  let isLate = false;
  const kill = (): void => killGroup(child.pid);
  const timer = setTimeout(() => {
    isLate = true;
    kill();
  }, limitMs);
  signal.addEventListener("abort", kill);
  createInterface({ input: child.stdout }).on("line", (line) => {
    const title = /^\s*not ok \d+ - (?<title>.*)$/.exec(line)?.groups?.["title"];
    if (title === undefined || / # (?:TODO|SKIP)\b/i.test(title)) return;
    failure ??= title;
    kill();
  });
  const [status] = await closed;
  clearTimeout(timer);
  signal.removeEventListener("abort", kill);
  // Also after a good end: tests may leave processes, and nothing may outlive its mutant.
  kill();
  emptyScratch(tree);
  signal.throwIfAborted();
  const ms = Math.round(performance.now() - started);
  if (failure !== undefined) return { outcome: "failed", ms, failure };
  return { outcome: isLate ? "late" : status === 0 ? "passed" : "failed", ms };
}

const flags = [
  "--test",
  "--conditions=@bowline/source",
  "--test-isolation=none",
  "--test-reporter=tap",
];

/** Without what this process has from a runner of its own. */
function inherited(): NodeJS.ProcessEnv {
  const { NODE_TEST_CONTEXT: _context, NODE_V8_COVERAGE: _coverage, ...rest } = process.env;
  return rest;
}

function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // It is over.
  }
}
