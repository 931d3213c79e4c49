/**
 * The folder of a session's large files, named by their SHA-256, beside its log. A file is durable
 * before the line that names it, and is never changed.
 */
import { createHash } from "node:crypto";
import { readFile, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { storedFilesIn, putBackFiles, takeOutFiles, type StoredFile } from "../stored-files.ts";
import type { AnyEntry } from "../entry.ts";
import type { ReadOptions } from "../store.ts";
import { syncFolder, withFile } from "./file.ts";
import { makeFolder } from "./make-folder.ts";
import { ifThere, systemCode } from "./storage-error.ts";

/** A file that is to be written before the line that names it. */
export interface NewFile {
  readonly name: string;
  readonly bytes: Buffer;
}

/** Returns the entry with references in place of its large files, and adds these to `files`. */
export function withoutFiles(entry: AnyEntry, files: NewFile[]): AnyEntry {
  return takeOutFiles(entry, (data) => {
    const bytes = Buffer.from(data, "base64");
    const name = digestOf(bytes);
    files.push({ name, bytes });
    return { storedFile: name, bytes: bytes.length };
  });
}

/** Writes files. Only the holder of the session's lock may use it. */
export class FileFolder {
  readonly #path: string;
  readonly #mustSync: boolean;
  /** The files that are known to be whole. */
  readonly #whole = new Set<string>();

  constructor(path: string, mustSync: boolean) {
    this.#path = path;
    this.#mustSync = mustSync;
  }

  /** Resolves when the files are durable. Rejects with the system's error. */
  async write(files: readonly NewFile[]): Promise<void> {
    for (const { name, bytes } of files) {
      if (this.#whole.has(name)) continue;
      const path = join(this.#path, name);
      const before = await ifThere(readFile(path));
      if (before?.equals(bytes) !== true) await this.#place(path, bytes);
      this.#whole.add(name);
    }
  }

  async #place(path: string, bytes: Buffer): Promise<void> {
    await makeFolder(this.#path);
    const temporary = `${path}.new`;
    try {
      await withFile(temporary, "w", async (file) => {
        await file.writeFile(bytes);
        if (this.#mustSync) await file.datasync();
      });
      await rename(temporary, path);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
    if (!this.#mustSync) return;
    await syncFolder(this.#path);
    await syncFolder(dirname(this.#path));
  }
}

/** Reads files. Equal files share one string as long as a part that has it is in use. */
export class FileReader {
  /** A restored part by the path of its file. A string cannot be referred to weakly. */
  readonly #parts = new Map<string, WeakRef<object>>();
  readonly #forgotten = new FinalizationRegistry<string>((path) => {
    if (this.#parts.get(path)?.deref() === undefined) this.#parts.delete(path);
  });

  /**
   * Yields the entries with their files from `folder`. An entry with files is a batch of its own, so
   * that not all of them are held at once.
   */
  async *restore(
    batches: AsyncIterable<readonly AnyEntry[]>,
    folder: string,
    onDamage: ReadOptions["onDamage"],
  ): AsyncGenerator<readonly AnyEntry[]> {
    for await (const batch of batches) {
      let plain: AnyEntry[] = [];
      for (const entry of batch) {
        const files = storedFilesIn(entry);
        if (files.length === 0) {
          plain.push(entry);
          continue;
        }
        if (plain.length > 0) yield plain;
        plain = [];
        yield [await this.#whole(entry, files, folder, onDamage)];
      }
      if (plain.length > 0) yield plain;
    }
  }

  async #whole(
    entry: AnyEntry,
    files: readonly StoredFile[],
    folder: string,
    onDamage: ReadOptions["onDamage"],
  ): Promise<AnyEntry> {
    const found = new Map<string, string>();
    for (const { storedFile } of files) {
      const data = found.get(storedFile) ?? (await this.#load(folder, storedFile));
      if (data !== undefined) found.set(storedFile, data);
      else
        onDamage?.({
          message: `The file ${join(folder, storedFile)} is missing or damaged. A note replaces it in the message.`,
        });
    }
    return putBackFiles(
      entry,
      ({ storedFile }) => found.get(storedFile),
      (part, { storedFile }) => {
        const path = join(folder, storedFile);
        if (this.#parts.get(path)?.deref() !== undefined) return;
        this.#parts.set(path, new WeakRef(part));
        this.#forgotten.register(part, path);
      },
    );
  }

  /** Resolves with a file in base64, or with undefined if it is missing or damaged. */
  async #load(folder: string, name: string): Promise<string | undefined> {
    if (!/^[0-9a-f]{64}$/.test(name)) return undefined; // never a path
    const path = join(folder, name);
    const known = this.#parts.get(path)?.deref() as { readonly data: string } | undefined;
    if (known !== undefined) return known.data;
    const bytes = await readable(path);
    return bytes !== undefined && digestOf(bytes) === name ? bytes.toString("base64") : undefined;
  }
}

/** Errors that mean damage. Others, such as too many open files, may pass: the read then fails. */
const DAMAGED: ReadonlySet<unknown> = new Set(["ENOENT", "ENOTDIR", "EISDIR", "ELOOP", "EIO"]);

/** Resolves with the bytes of a file, or with undefined if it is missing or cannot be a file. */
async function readable(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    if (DAMAGED.has(systemCode(error))) return undefined;
    throw error;
  }
}

function digestOf(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}
