/**
 * Saves the draft as it is typed, so that a crash loses nothing. Each process has a file of its own
 * in the project's folder; the next start takes over the files of processes that ended.
 */
import { createHash } from "node:crypto";
import { readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "@bowline/core";
import { replaceFile } from "../../replace-file.ts";
import type { DraftPart } from "./draft.ts";
import { readParts, storedParts } from "./history-entry.ts";

export interface DraftFileOptions {
  /** The folder of all drafts, such as `drafts` in the data folder. */
  readonly folder: string;
  /** The absolute path of the project's folder. */
  readonly project: string;
  readonly pid: number;
  /** Returns true if the process exists. */
  readonly isAlive: (pid: number) => boolean;
  readonly clock: Pick<Clock, "setTimer">;
  readonly newId: () => string;
  /** Tells the person, once, that the draft cannot be stored. */
  readonly onNotice?: (notice: string) => void;
}

const DELAY_MS = 200;
const FILE = /^(\d+)(?:-[\w-]+)?\.json$/;

export class DraftFile {
  readonly #options: DraftFileOptions;
  readonly #folder: string;
  readonly #path: string;
  /** Files of ended processes. They are deleted once the draft they hold is saved anew. */
  readonly #taken: string[] = [];
  #parts: (() => readonly DraftPart[]) | undefined;
  #stopTimer: (() => void) | undefined;
  #writing: Promise<void> = Promise.resolve();
  #hasTold = false;

  constructor(options: DraftFileOptions) {
    this.#options = options;
    const hash = createHash("sha256").update(options.project).digest("hex").slice(0, 16);
    this.#folder = join(options.folder, hash);
    this.#path = join(this.#folder, `${options.pid}.json`);
  }

  /**
   * Returns the drafts that ended processes left, newest first. The caller shows the first and adds
   * the others to the history; the next save deletes their files.
   */
  async restore(): Promise<readonly (readonly DraftPart[])[]> {
    const left = (await this.#leftFiles()).toSorted((a, b) => b.time - a.time);
    const drafts: (readonly DraftPart[])[] = [];
    for (const { name } of left) {
      const path = join(this.#folder, `${this.#options.pid}-${this.#options.newId()}.json`);
      // Another process may take over the file at the same moment: only one can rename it.
      if (!(await isDone(rename(join(this.#folder, name), path)))) continue;
      const parts = await readDraft(path);
      if (parts === undefined) continue;
      this.#taken.push(path);
      drafts.push(parts);
    }
    return drafts;
  }

  /** Saves the draft soon. `parts` is called when it is written. */
  changed(parts: () => readonly DraftPart[]): void {
    this.#parts = parts;
    this.#stopTimer ??= this.#options.clock.setTimer(DELAY_MS, () => void this.#write());
  }

  /** Saves the last change and resolves when it is on the disk. */
  async close(): Promise<void> {
    await this.#write();
  }

  async #write(): Promise<void> {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
    this.#writing = this.#writing.then(() => this.#writeNow());
    await this.#writing;
  }

  async #writeNow(): Promise<void> {
    const parts = this.#parts?.();
    this.#parts = undefined;
    if (parts === undefined) return;
    try {
      if (parts.length === 0) await rm(this.#path, { force: true });
      else await replaceFile(this.#path, JSON.stringify({ parts: storedParts(parts) }));
      for (const path of this.#taken.splice(0)) await rm(path, { force: true });
    } catch (error) {
      if (this.#hasTold) return;
      this.#hasTold = true;
      this.#options.onNotice?.(`The draft is not stored: ${(error as Error).message}`);
    }
  }

  async #leftFiles(): Promise<{ readonly name: string; readonly time: number }[]> {
    const { pid, isAlive } = this.#options;
    const left: { name: string; time: number }[] = [];
    for (const name of await readdir(this.#folder).catch((): string[] => [])) {
      const owner = Number(FILE.exec(name)?.[1] ?? Number.NaN);
      // A file with this process's id is from an earlier process with the same one.
      if (Number.isNaN(owner) || (owner !== pid && isAlive(owner))) continue;
      const found = await stat(join(this.#folder, name)).catch(() => undefined);
      if (found !== undefined) left.push({ name, time: found.mtimeMs });
    }
    return left;
  }
}

/** Returns undefined for a file that is damaged. It stays under a name that is not read again. */
async function readDraft(path: string): Promise<readonly DraftPart[] | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(path, "utf8"));
    const parts = readParts((value as { readonly parts?: unknown } | null)?.parts);
    if (parts !== undefined) return parts;
  } catch {
    // Renamed below, as are files that hold something else.
  }
  await isDone(rename(path, `${path}.damaged`));
  return undefined;
}

async function isDone(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  );
}
