/**
 * Runs a few searches at a time, each in a thread with its own heap, because one answer may contain
 * thousands of calls. Starting a thread takes longer than most searches, so a free thread is handed
 * to the next search.
 */
import {
  SearchThread,
  type GlobJob,
  type GrepJob,
  type SearchOptions,
  type SearchResult,
} from "./search.ts";
import { abortReason, stopIfAborted, toolError } from "./tool-error.ts";

const AT_ONCE = 4;

export class SearchQueue {
  #free = AT_ONCE;
  readonly #waiting: ((thread: SearchThread | undefined) => void)[] = [];

  /** Runs a search. Its time limit starts when the search does. */
  async search(job: GlobJob | GrepJob, options: SearchOptions): Promise<SearchResult> {
    stopIfAborted(options.signal);
    let thread: SearchThread | undefined;
    if (this.#free > 0) this.#free--;
    else thread = await this.#turn(options.signal);
    try {
      return await (thread ??= new SearchThread()).search(job, options);
    } finally {
      const next = this.#waiting.shift();
      if (next !== undefined) next(thread?.isEnded === true ? undefined : thread);
      else {
        this.#free++;
        thread?.end();
      }
    }
  }

  /** Waits for a slot. Resolves with the previous search's thread if that can be reused. */
  #turn(signal: AbortSignal): Promise<SearchThread | undefined> {
    return new Promise((resolve, reject) => {
      const begin = (thread: SearchThread | undefined): void => {
        signal.removeEventListener("abort", onAbort);
        resolve(thread);
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
