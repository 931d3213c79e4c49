/**
 * The file of the history: a line of JSON for each entry. Several processes append to it at once.
 *
 * - An entry is one write at the end of the file, so that entries of two processes do not mix. It
 *   begins with a line feed too: a line that a crash cut does not damage the next one.
 * - A full file gets a name of its own, by which it is never written again. A process that has it
 *   open still adds its entry there, where it is read. The oldest files are deleted.
 */
import { open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { makeFolder } from "@bowline/core/session/node";
import { readEntry, type HistoryEntry } from "./history-entry.ts";

/** A file above this size is put aside. */
const FILE_BYTES = 1_000_000;
/** The size of all files, when the oldest is deleted. */
const ALL_BYTES = 4_000_000;
const CURRENT = "current.jsonl";
const PUT_ASIDE = /^\d+-[\w-]+\.jsonl$/;

export interface HistoryFileOptions {
  /** The folder of the files, such as `history` in the data folder. */
  readonly folder: string;
  readonly now: () => number;
  readonly newId: () => string;
}

export class HistoryFile {
  readonly #options: HistoryFileOptions;

  constructor(options: HistoryFileOptions) {
    this.#options = options;
  }

  async append(line: string): Promise<void> {
    const { folder } = this.#options;
    await makeFolder(folder);
    const file = await open(join(folder, CURRENT), "a", 0o600);
    let size = 0;
    try {
      await file.writeFile(`\n${line}\n`);
      ({ size } = await file.stat());
    } finally {
      await file.close();
    }
    if (size > FILE_BYTES) await this.#putAside();
  }

  /** Returns the entries, oldest first, and the number of lines that are none. */
  async read(): Promise<{ readonly entries: HistoryEntry[]; readonly damaged: number }> {
    const entries: HistoryEntry[] = [];
    let damaged = 0;
    for (const name of [...(await this.#putAsideNames()), CURRENT]) {
      const text = (await existing(readFile(join(this.#options.folder, name), "utf8"))) ?? "";
      for (const line of text.split("\n")) {
        if (line === "") continue;
        const entry = readEntry(line);
        if (entry === undefined) damaged++;
        else entries.push(entry);
      }
    }
    return { entries: entries.toSorted((a, b) => a.time - b.time), damaged };
  }

  /** The name is new, so that two processes that do this at once cannot replace a file. */
  async #putAside(): Promise<void> {
    const { folder, now, newId } = this.#options;
    const time = String(now()).padStart(15, "0");
    await existing(rename(join(folder, CURRENT), join(folder, `${time}-${newId()}.jsonl`)));
    let sum = 0;
    for (const name of (await this.#putAsideNames()).toReversed()) {
      sum += (await existing(stat(join(folder, name))))?.size ?? 0;
      if (sum > ALL_BYTES) await rm(join(folder, name), { force: true });
    }
  }

  /** Oldest first. */
  async #putAsideNames(): Promise<string[]> {
    const names = (await existing(readdir(this.#options.folder))) ?? [];
    return names.filter((name) => PUT_ASIDE.test(name)).toSorted();
  }
}

/** Resolves to undefined if the file does not exist, for instance since another process moved it. */
async function existing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
