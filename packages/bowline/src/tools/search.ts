/**
 * Searching, in a worker thread. A regular expression or a glob from a model can take for ever to
 * match (both backtrack), and a tree can be endless; a thread can be ended at any instant, so that
 * an abort and the time limit always hold.
 */
import { extname, relative, sep } from "node:path";
import { Worker } from "node:worker_threads";
import { isLike } from "../is-like.ts";
import { isInside } from "./inside.ts";
import { abortReason, stopIfAborted, toolError } from "./tool-error.ts";
import type { Place, Workspace } from "./workspace.ts";

/** Larger files are not searched for lines. */
export const MAX_SEARCHED_BYTES: number = 5 * 1024 * 1024;

/** Where to look. All paths are absolute and without links. */
export interface SearchPlace {
  /**
   * The working directory, or the base if that is not in it: ignore rules above it do not count.
   */
  readonly root: string;
  /** What no path may leave that leads out of the root. */
  readonly reach: string;
  /** The folder to search, or the one file. */
  readonly base: string;
  /**
   * What stands before the paths found, to make them relative to the working directory: "" or
   * "src/"; elsewhere absolute.
   */
  readonly prefix: string;
  /** Patterns of what is left out, relative to the root. */
  readonly hidden: readonly string[];
}

/** What bounds the result. */
interface SearchLimits {
  /** The most hits. */
  readonly limit: number;
  /** The most characters of all hits, with a line feed for each. */
  readonly characters: number;
}

export interface GlobJob extends SearchPlace, SearchLimits {
  readonly type: "glob";
  readonly pattern: string;
  readonly kind: "file" | "directory" | "any";
  readonly sizes: boolean;
}

export interface GrepJob extends SearchPlace, SearchLimits {
  readonly type: "grep";
  /** A regular expression. */
  readonly source: string;
  readonly flags: string;
  /** Which files, when `base` is a folder. */
  readonly glob: string | undefined;
  readonly isFile: boolean;
}

export interface SearchResult {
  /** One hit each. */
  readonly lines: readonly string[];
  /** All hits of a glob; of a grep, more than there are lines says only that there are more. */
  readonly total: number;
}

/** What the thread sends back, once. */
export type SearchAnswer =
  | { readonly type: "done"; readonly result: SearchResult }
  | { readonly type: "failed"; readonly message: string };

export interface SearchOptions {
  readonly signal: AbortSignal;
  /** Default 60 seconds. */
  readonly timeLimitMs?: number | undefined;
}

const isSource = extname(import.meta.url) === ".ts";
const sourceFile = new URL("./search-worker.ts", import.meta.url);
const builtFile = new URL("./search-worker.js", import.meta.url);
const TIME_LIMIT_MS = 60_000;
/** Of all hits together, unless the caller says otherwise. */
export const DEFAULT_CHARACTERS = 4_000_000;
const MAX_HEAP_MB = 512;
const advice = "narrow the path, the glob or the pattern";

/** The place below a folder. */
export function belowFolder(
  { root, reach, hidden }: Workspace,
  { shown, real }: Place,
  toolName: string,
): SearchPlace {
  const prefix = shown === "." ? "" : `${shown}/`.replace("//", "/");
  if (!isInside(root, real)) return { root: real, reach, base: real, prefix, hidden: [] };
  return { root, reach, base: real, prefix, hidden: hidden(toolName) };
}

/** Whether a path is one of those that are left out. It is absolute and has no links. */
export function isHidden(
  { root, hidden }: Pick<SearchPlace, "root" | "hidden">,
  path: string,
): boolean {
  const inside = relative(root, path).split(sep).join("/");
  return hidden.some((pattern) => isLike(pattern, inside, "/"));
}

/** One thread, for one search after the other. What is not needed any more has to be ended. */
export class SearchThread {
  readonly #worker: Worker;
  #isEnded = false;
  #take: (answer: SearchAnswer) => void = () => {};
  #lose: (why: string, cause?: unknown) => void = () => {};

  constructor() {
    this.#worker = new Worker(isSource ? sourceFile : builtFile, {
      // Nothing in it is of use here; and what a program preloads (`--import`) is not to run again
      // with each search.
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
    });
    this.#worker.on("message", (answer: SearchAnswer) => this.#take(answer));
    this.#worker.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ERR_WORKER_OUT_OF_MEMORY")
        this.#lose(`The search needed too much memory; ${advice}`, error);
      else this.#lose("The search failed", error);
    });
    this.#worker.on("exit", () => this.#lose("The search ended without a result"));
  }

  /** Whether it can do no more: a search in it was stopped, or broke it. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  end(): void {
    this.#isEnded = true;
    void this.#worker.terminate();
  }

  /**
   * Runs a search to its end, to the abort or to its time limit, whichever comes first. One at a
   * time.
   */
  search(
    job: GlobJob | GrepJob,
    { signal, timeLimitMs = TIME_LIMIT_MS }: SearchOptions,
  ): Promise<SearchResult> {
    return new Promise((resolve, reject) => {
      stopIfAborted(signal);
      const settle = (): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", onAbort);
        this.#lose = () => {};
      };
      this.#lose = (why, cause) => {
        settle();
        this.end();
        reject(toolError(why, cause));
      };
      this.#take = (answer) => {
        settle();
        if (answer.type === "done") resolve(answer.result);
        else reject(toolError(answer.message));
      };
      const onAbort = (): void => this.#lose(`Stopped: ${abortReason(signal)}`);
      const late = `The search took longer than ${timeLimitMs / 1000} s; ${advice}`;
      const timer = setTimeout(() => this.#lose(late), timeLimitMs);
      signal.addEventListener("abort", onAbort, { once: true });
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
      this.#worker.postMessage(job);
    });
  }
}
