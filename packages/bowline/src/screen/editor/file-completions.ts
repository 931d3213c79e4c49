/** Completes the files of the project. They are listed in the background, when first needed. */
import type { Clock } from "@bowline/core";
import type { CompletionItem, Completions, CompletionSource } from "./completion.ts";
import { mentionOf } from "./file-mention.ts";
import { candidate, rank, type Candidate } from "./fuzzy.ts";

export interface FileCompletionsOptions {
  /**
   * Lists paths relative to the project's folder in batches, with "/" between names. Folders end
   * with "/".
   */
  readonly walk: (signal: AbortSignal) => AsyncIterable<readonly string[]>;
  readonly clock: Clock;
  /** Ends the listing. */
  readonly signal: AbortSignal;
  /** How long a listing may take, in milliseconds. Default: 10,000. */
  readonly limitMs?: number;
  /** The number of files that are kept. Default: 200,000. */
  readonly maxFiles?: number;
}

/** The list is made anew when the menu opens after this time, in milliseconds. */
const FRESH_MS = 5000;

export class FileCompletions implements CompletionSource {
  readonly trigger = "@";
  readonly #options: FileCompletionsOptions;
  readonly #limitMs: number;
  readonly #maxFiles: number;
  #files: readonly Candidate[] = [];
  #notice: string | undefined;
  #isListing = false;
  #listedAt: number | undefined;

  constructor(options: FileCompletionsOptions) {
    this.#options = options;
    this.#limitMs = options.limitMs ?? 10_000;
    this.#maxFiles = options.maxFiles ?? 200_000;
  }

  open(onChange: () => void): void {
    const { clock, signal } = this.#options;
    const now = timeOf(clock);
    const isFresh = this.#listedAt !== undefined && now - this.#listedAt < FRESH_MS;
    if (this.#isListing || isFresh || signal.aborted) return;
    this.#isListing = true;
    void this.#list(onChange).finally(() => {
      this.#isListing = false;
      this.#listedAt = timeOf(clock);
      onChange();
    });
  }

  find(query: string, limit: number): Completions {
    const { names, total } = rank(query, this.#files, limit);
    const items = names.map((name): CompletionItem => ({ name }));
    return { items, total, isListing: this.#isListing, notice: this.#notice };
  }

  /** A folder is left open: its files are completed next. */
  textFor({ name }: CompletionItem): string {
    const mention = mentionOf(name);
    return name.endsWith("/") ? mention.replace(/"$/, "") : `${mention} `;
  }

  /** Shows the first list as it grows. Later ones replace the list when they are complete. */
  async #list(onChange: () => void): Promise<void> {
    const { walk, clock, signal } = this.#options;
    const limit = new AbortController();
    const stopTimer = clock.setTimer(this.#limitMs, () => limit.abort());
    const files: Candidate[] = [];
    const isFirst = this.#listedAt === undefined;
    let notice: string | undefined;
    try {
      for await (const paths of walk(AbortSignal.any([signal, limit.signal]))) {
        for (const path of paths) if (isTypable(path)) files.push(candidate(path));
        if (isFirst) {
          this.#files = files;
          onChange();
        }
        if (files.length < this.#maxFiles) continue;
        notice = `only the first ${files.length.toLocaleString("en-US")} files`;
        break;
      }
      if (limit.signal.aborted) notice = `only the files found in ${this.#limitMs / 1000} s`;
    } catch (error) {
      if (!signal.aborted) notice = listNotice(error, limit.signal.aborted, this.#limitMs);
    } finally {
      stopTimer();
    }
    this.#files = files;
    this.#notice = notice;
  }
}

function timeOf(clock: Clock): number {
  return clock.monotonic?.() ?? clock.now();
}

function listNotice(error: unknown, isLate: boolean, limitMs: number): string {
  if (isLate) return `only the files found in ${limitMs / 1000} s`;
  const code = (error as NodeJS.ErrnoException).code ?? (error as Error).message;
  return `listing failed (${code})`;
}

/** A name with control characters cannot be typed. */
function isTypable(path: string): boolean {
  return !/[\u0000-\u001f\u007f-\u009f]/.test(path);
}
