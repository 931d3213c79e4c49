/** Runs test files in a separate process, until the first failure or a time limit. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { cpuTimeOf, isComputing } from "./cpu-time.ts";
import type { Failure } from "./reporter.ts";
import { emptyScratch, type Tree } from "./tree.ts";

/**
 * In the last three outcomes no test failed. `waited`: a test exceeded its time limit. `late`: the
 * process did. `busy`: the process did too, but computed all the time, so that no test could end.
 */
export type Outcome = "passed" | "failed" | "waited" | "late" | "busy";

export interface TestRun {
  readonly outcome: Outcome;
  readonly ms: number;
  /** The failed test's title, if one was reported. */
  readonly failure?: string;
}

interface Limits {
  /** The time limit of all tests together. */
  readonly limitMs: number;
  /** The time limit of each test. A test that exceeds it does not stop the others. */
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
    // The tests get their own process group, so that their child processes are killed as well.
    detached: true,
  });
  const closed = once(child, "close");
  let failure: string | undefined;
  let late: Outcome | undefined;
  const kill = (): void => killGroup(child.pid);
  let timer = setTimeout(() => {
    // Other processes may have used the CPU for most of the time, or for nearly all of it.
    const hasComputed = cpuTimeOf(child.pid) >= limitMs / 4 || isComputing(child.pid);
    late = hasComputed ? "busy" : "late";
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
    // A pending operation of the test may keep the process alive after all other tests.
    clearTimeout(timer);
    timer = setTimeout(kill, testMs);
  });
  const [status] = await closed;
  clearTimeout(timer);
  signal.removeEventListener("abort", kill);
  // Also after success: tests may leave processes, and none may outlive its mutant.
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
  `--import=${new URL("no-reduction.ts", import.meta.url).href}`,
  `--test-reporter=${new URL("reporter.ts", import.meta.url).href}`,
];

/** Returns undefined for a line that a test wrote. */
function parseFailure(line: string): Failure | undefined {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value !== "object" || value === null) return undefined;
    return "title" in value && "isLate" in value ? (value as Failure) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the environment without the variables of a test runner around this process. */
function inherited(): NodeJS.ProcessEnv {
  const { NODE_TEST_CONTEXT: _context, NODE_V8_COVERAGE: _coverage, ...rest } = process.env;
  return rest;
}

function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // the process has ended
  }
}
