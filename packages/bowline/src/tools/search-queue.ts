/** Searches, a few at a time: each is a thread with a heap of its own, and an answer may hold dozens of calls. */
import { search, type GlobJob, type GrepJob, type SearchOptions, type SearchResult } from "./search.ts";
import { abortReason, stopIfAborted, toolError } from "./tool-error.ts";

const AT_ONCE = 4;

export class SearchQueue {
  #free = AT_ONCE;
  readonly #waiting: (() => void)[] = [];

  /** The time limit of a search begins when it does. */
  async search(job: GlobJob | GrepJob, options: SearchOptions): Promise<SearchResult> {
    stopIfAborted(options.signal);
    if (this.#free > 0) this.#free--;
    else await this.#turn(options.signal);
    try {
      return await search(job, options);
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next();
    }
  }

  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        signal.removeEventListener("abort", onAbort);
        resolve();
      };
      const onAbort = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(begin), 1);
        reject(toolError(`Stopped: ${abortReason(signal)}`));
      };
      signal.addEventListener("abort", onAbort, { once: true });
      this.#waiting.push(begin);
    });
  }
}
