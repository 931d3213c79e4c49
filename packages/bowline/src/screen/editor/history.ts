/**
 * What was sent or cleared, to be called back. The newest entries of the project come first, then
 * those of other projects.
 */
import type { Clock } from "@bowline/core";
import type { DraftPart } from "./draft.ts";
import { entryLine, historyEntry, type HistoryEntry } from "./history-entry.ts";
import type { HistoryFile } from "./history-file.ts";

const MAX_ENTRIES = 5000;

export interface HistoryOptions {
  /** The entries of other processes and earlier ones. Without it, nothing is stored. */
  readonly file?: HistoryFile;
  /** The absolute path of the project's folder. */
  readonly project: string;
  readonly clock: Pick<Clock, "now">;
  /** Tells the person that the history cannot be read or stored. Called once for each reason. */
  readonly onNotice?: (notice: string) => void;
}

export class History {
  readonly #options: HistoryOptions;
  readonly #told = new Set<string>();
  /** Oldest first. */
  #stored: readonly HistoryEntry[] = [];
  readonly #own: HistoryEntry[] = [];
  #writing: Promise<void> = Promise.resolve();

  constructor(options: HistoryOptions) {
    this.#options = options;
  }

  /** Reads the stored entries. Until then, the history has those of this process only. */
  async load(): Promise<void> {
    try {
      const { entries, damaged } = (await this.#options.file?.read()) ?? noEntries;
      this.#stored = entries.slice(-MAX_ENTRIES);
      if (damaged > 0)
        this.#tell(
          `History: ${damaged} damaged ${damaged === 1 ? "line was" : "lines were"} skipped.`,
        );
    } catch (error) {
      this.#tell(`History: cannot be read (${reason(error)}).`);
    }
  }

  /** Adds a draft, unless it equals the newest entry of the project. */
  add(parts: readonly DraftPart[]): void {
    const { project, clock, file } = this.#options;
    const entry = historyEntry(project, clock.now(), parts);
    if (entry.text.trim() === "" || isSame(this.entries()[0], entry)) return;
    this.#own.push(entry);
    if (this.#own.length > MAX_ENTRIES) this.#own.shift();
    if (file === undefined) return;
    this.#writing = this.#writing
      .then(() => file.append(entryLine(entry)))
      .catch((error: unknown) =>
        this.#tell(`History: entries of this conversation are not stored (${reason(error)}).`),
      );
  }

  /** Returns the entries, newest first: those of the project, then the others. */
  entries(): readonly HistoryEntry[] {
    const all = [...this.#stored, ...this.#own].toReversed();
    const isOwn = ({ project }: HistoryEntry): boolean => project === this.#options.project;
    return [...all.filter(isOwn), ...all.filter((entry) => !isOwn(entry))];
  }

  /** Resolves when all entries are written. */
  async close(): Promise<void> {
    await this.#writing;
  }

  #tell(notice: string): void {
    if (this.#told.has(notice)) return;
    this.#told.add(notice);
    this.#options.onNotice?.(notice);
  }
}

const noEntries = { entries: [], damaged: 0 } as const;

function isSame(a: HistoryEntry | undefined, b: HistoryEntry): boolean {
  return (
    a?.project === b.project &&
    a.text === b.text &&
    JSON.stringify(a.parts) === JSON.stringify(b.parts)
  );
}

function reason(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? (error as Error).message;
}
