/** Test files in a process of their own, up to their first failure or a limit of time. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { cpuTimeOf } from "./cpu-time.ts";
import type { Failure } from "./reporter.ts";
import { emptyScratch, type Tree } from "./tree.ts";

/**
 * None of the last three noticed anything. `waited`: a test ran out of time. `late`: the process did,
 * and `busy`: it computed all the while, so that no test could end.
 */
export type Outcome = "passed" | "failed" | "waited" | "late" | "busy";

export interface TestRun {
  readonly outcome: Outcome;
  readonly ms: number;
  /** The failed test's title, as far as one was reported. */
  readonly failure?: string;
}

interface Limits {
  /** For all of them. */
  readonly limitMs: number;
  /** For each test. One that takes longer keeps no other from failing. */
  readonly testMs?: number;
  readonly signal: AbortSignal;
  readonly env?: Readonly<Record<string, string>>;
}

export async function runTests(
  tree: Tree,
  files: readonly string[],
  { limitMs, testMs = Infinity, signal, env }: Limits,
): Promise<TestRun> {
  signal.throwIfAborted();
  const started = performance.now();
  const limit = testMs < Infinity ? [`--test-timeout=${testMs}`] : [];
  const child = spawn(process.execPath, [...flags, ...limit, ...files], {
    cwd: tree.root,
    env: { ...inherited(), TMPDIR: tree.scratch, HOME: tree.scratch, ...env },
    stdio: ["ignore", "pipe", "ignore"],
    // A group of its own, with which what the tests started is killed too.
    detached: true,
  });
  const closed = once(child, "close");
  let failure: string | undefined;
  let late: Outcome | undefined;
  const kill = (): void => killGroup(child.pid);
  let timer = setTimeout(() => {
    // A quarter of it: others may have had the processor most of the time.
    late = cpuTimeOf(child.pid) >= limitMs / 4 ? "busy" : "late";
    kill();
  }, limitMs);
  signal.addEventListener("abort", kill);
  createInterface({ input: child.stdout }).on("line", (line) => {
    const { title, isLate } = parseFailure(line) ?? {};
    if (title === undefined) return;
    if (isLate !== true) {
      failure ??= title;
      kill();
      return;
    }
    late = "waited";
    // What the test waits for may keep the process alive when all others are over.
    clearTimeout(timer);
    timer = setTimeout(kill, testMs);
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
  return { outcome: late ?? (status === 0 ? "passed" : "failed"), ms };
}

const flags = [
  "--test",
  "--conditions=@bowline/source",
  "--test-isolation=none",
  `--test-reporter=${new URL("reporter.ts", import.meta.url).href}`,
];

/** Undefined for a line that a test wrote. */
function parseFailure(line: string): Failure | undefined {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value !== "object" || value === null) return undefined;
    return "title" in value && "isLate" in value ? (value as Failure) : undefined;
  } catch {
    return undefined;
  }
}

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
