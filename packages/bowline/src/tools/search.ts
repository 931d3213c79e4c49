/**
 * Searching, in a worker thread. A regular expression or a glob from a model can take for ever to match (both backtrack), and a
 * tree can be endless; a thread can be ended at any instant, so that an abort and the time limit always hold.
 */
import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import { abortReason, stopIfAborted, toolError } from "./tool-error.ts";

/** Larger files are not searched for lines. */
export const MAX_SEARCHED_BYTES: number = 5 * 1024 * 1024;

/** Where to look. All paths are absolute and without links. */
export interface SearchPlace {
  /** The working directory. */
  readonly root: string;
  /** The folder to search, or the one file. */
  readonly base: string;
  /** What stands before the paths found, to make them relative to the working directory: "" or "src/". */
  readonly prefix: string;
}

export interface GlobJob extends SearchPlace {
  readonly type: "glob";
  readonly pattern: string;
  readonly kind: "file" | "directory" | "any";
  readonly sizes: boolean;
  readonly limit: number;
}

export interface GrepJob extends SearchPlace {
  readonly type: "grep";
  /** A regular expression. */
  readonly source: string;
  readonly flags: string;
  /** Which files, when `base` is a folder. */
  readonly glob: string | undefined;
  readonly isFile: boolean;
  readonly limit: number;
}

export interface SearchResult {
  /** One hit each, at most `limit`. */
  readonly lines: readonly string[];
  /** All hits of a glob; of a grep, more than `limit` says only that there are more. */
  readonly total: number;
}

/** What the thread sends back, once. */
export type SearchAnswer =
  | { readonly type: "done"; readonly result: SearchResult }
  | { readonly type: "failed"; readonly message: string };

export interface SearchOptions {
  readonly signal: AbortSignal;
  /** Default 60 seconds. */
  readonly timeLimitMs?: number;
}

const isSource = extname(import.meta.url) === ".ts";
const sourceFile = new URL("./search-worker.ts", import.meta.url);
const builtFile = new URL("./search-worker.js", import.meta.url);
const TIME_LIMIT_MS = 60_000;
const MAX_HEAP_MB = 512;

/** Runs a search to its end, to the abort or to its time limit, whichever comes first. */
export function search(
  job: GlobJob | GrepJob,
  { signal, timeLimitMs = TIME_LIMIT_MS }: SearchOptions,
): Promise<SearchResult> {
  return new Promise((resolve, reject) => {
    stopIfAborted(signal);
    // No environment: nothing in it is of use here.
    const worker = new Worker(isSource ? sourceFile : builtFile, {
      workerData: job,
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
    });
    const finish = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      void worker.terminate();
    };
    const fail = (message: string, cause?: unknown): void => {
      finish();
      reject(toolError(message, cause));
    };
    const onAbort = (): void => fail(`Stopped: ${abortReason(signal)}`);
    const advice = "narrow the path, the glob or the pattern";
    const timer = setTimeout(() => fail(`The search took longer than ${timeLimitMs / 1000} s; ${advice}`), timeLimitMs);
    signal.addEventListener("abort", onAbort, { once: true });
    worker.once("message", (answer: SearchAnswer) => {
      if (answer.type === "failed") return fail(answer.message);
      finish();
      resolve(answer.result);
    });
    worker.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ERR_WORKER_OUT_OF_MEMORY") fail(`The search needed too much memory; ${advice}`, error);
      else fail("The search failed", error);
    });
    worker.once("exit", () => fail("The search ended without a result"));
  });
}
