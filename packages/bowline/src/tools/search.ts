/**
 * Runs searches in a worker thread. A model's regular expression or glob can backtrack without end,
 * and a folder tree can be endless. A thread can be terminated at any time, so aborts and the time
 * limit always work.
 */
import { extname, relative, sep } from "node:path";
import { Worker } from "node:worker_threads";
import { isLike } from "../is-like.ts";
import { isInside } from "./inside.ts";
import { abortReason, stopIfAborted, toolError } from "./tool-error.ts";
import type { Place, Workspace } from "./workspace.ts";

/** Larger files are not searched for lines. */
export const MAX_SEARCHED_BYTES: number = 5 * 1024 * 1024;

/** Where to search. All paths are absolute and without links. */
export interface SearchPlace {
  /**
   * The working directory, or `base` if that lies outside. Ignore rules above it do not apply.
   */
  readonly root: string;
  /** Paths outside the root must stay inside this folder. */
  readonly reach: string;
  /** The folder or file to search. */
  readonly base: string;
  /**
   * Prefix that makes found paths relative to the working directory: "" or "src/". Absolute for
   * paths outside it.
   */
  readonly prefix: string;
  /** Patterns to leave out, relative to the root. */
  readonly hidden: readonly string[];
}

/** Limits of the result. */
interface SearchLimits {
  /** The maximum number of hits. */
  readonly limit: number;
  /** The maximum length of all hits in characters, including a line feed for each. */
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
  /** Pattern of files to search, if `base` is a folder. */
  readonly glob: string | undefined;
  readonly isFile: boolean;
}

export interface SearchResult {
  /** One hit per line. */
  readonly lines: readonly string[];
  /**
   * All hits of a glob. For a grep, a number above that of `lines` only says that there are more.
   */
  readonly total: number;
}

/** The thread's answer to one job. */
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
/** Default limit for all hits together. */
export const DEFAULT_CHARACTERS = 4_000_000;
const MAX_HEAP_MB = 512;
const advice = "narrow the path, the glob or the pattern";

/** Creates the search place of a folder. */
export function belowFolder(
  { root, reach, hidden }: Workspace,
  { shown, real }: Place,
  toolName: string,
): SearchPlace {
  const prefix = shown === "." ? "" : `${shown}/`.replace("//", "/");
  if (!isInside(root, real)) return { root: real, reach, base: real, prefix, hidden: [] };
  return { root, reach, base: real, prefix, hidden: hidden(toolName) };
}

/**
 * Returns true if a path is left out of searches. The path is absolute and without links. Letter
 * case and the form of accents do not count, as for rules that deny.
 */
export function isHidden(
  { root, hidden }: Pick<SearchPlace, "root" | "hidden">,
  path: string,
): boolean {
  const inside = relative(root, path).split(sep).join("/");
  return hidden.some((pattern) => isLike(folded(pattern), folded(inside), "/"));
}

function folded(text: string): string {
  return text.normalize("NFC").toLowerCase();
}

/** A thread that runs one search at a time. Call `end` when it is no longer needed. */
export class SearchThread {
  readonly #worker: Worker;
  #isEnded = false;
  #take: (answer: SearchAnswer) => void = () => {};
  #lose: (why: string, cause?: unknown) => void = () => {};

  constructor() {
    this.#worker = new Worker(isSource ? sourceFile : builtFile, {
      // The worker needs no environment, and must not run a program's `--import` preloads with each
      // search.
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

  /** True if the thread is unusable: a search was stopped or crashed it. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  end(): void {
    this.#isEnded = true;
    void this.#worker.terminate();
  }

  /** Runs one search until it ends, is aborted or exceeds its time limit. One at a time. */
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
