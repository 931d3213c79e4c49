/**
 * Appends to a session's file. Pending appends are combined into one write and one sync. When a
 * write fails, the file is truncated to its previous length, so that no unacknowledged entry stays.
 */
import { BowlineError } from "../../errors.ts";
import type { AnyEntry, Entry } from "../entry.ts";
import { checkSequence } from "../store.ts";
import { writeAll, type AppendableFile } from "./file.ts";
import { withoutFiles, type FileFolder, type NewFile } from "./file-folder.ts";
import { encodeEntry } from "./record.ts";
import { storageError } from "./storage-error.ts";

/**
 * When an append waits for a sync to the disk. `always`: for every entry. `commit`: for every entry
 * except `run_start`, `model_change`, `label`, `title`, `usage`, `abort` and `streamed_text`, which
 * are synced with the next other entry. `never`: no sync. A crash of the process then loses nothing, but a crash of
 * the machine may.
 */
export type SyncPolicy = "always" | "commit" | "never";

const canWait: ReadonlySet<string> = new Set<Entry["type"]>([
  "run_start",
  "model_change",
  "label",
  "title",
  "usage",
  "abort",
  "streamed_text",
]);

export interface LogWriterOptions {
  readonly file: AppendableFile;
  readonly path: string;
  readonly length: number;
  readonly last: AnyEntry | undefined;
  readonly nextSeq: number;
  readonly sync: SyncPolicy;
  /** Where large files of entries are written, before the entries. */
  readonly files: FileFolder;
}

interface Waiting {
  readonly bytes: Buffer;
  readonly files: readonly NewFile[];
  readonly mustSync: boolean;
  readonly tip: Tip;
  readonly settle: (error?: BowlineError) => void;
}

interface Tip {
  readonly last: AnyEntry | undefined;
  readonly nextSeq: number;
}

export class LogWriter {
  readonly #file: AppendableFile;
  readonly #path: string;
  readonly #sync: SyncPolicy;
  readonly #files: FileFolder;
  #length: number;
  /**
   * `#written`: the last entry in the file. `#tip`: the last entry once all pending ones are
   * written.
   */
  #written: Tip;
  #tip: Tip;
  #waiting: Waiting[] = [];
  #working: Promise<void> | undefined;
  #isUnsynced = false;
  #isClosed = false;
  /** Set when the content of the file is unknown. The session must be opened again. */
  #lost: BowlineError | undefined;

  constructor({ file, path, length, last, nextSeq, sync, files }: LogWriterOptions) {
    this.#file = file;
    this.#path = path;
    this.#sync = sync;
    this.#files = files;
    this.#length = length;
    this.#written = { last, nextSeq };
    this.#tip = this.#written;
  }

  get last(): AnyEntry | undefined {
    return this.#tip.last;
  }

  get nextSeq(): number {
    return this.#tip.nextSeq;
  }

  /** See {@link SessionWriter.append}. */
  async append(entries: readonly AnyEntry[]): Promise<void> {
    if (this.#isClosed) throw new BowlineError("invalid_state", "The session is closed.");
    checkSequence(entries, this.#tip.nextSeq);
    const last = entries.at(-1);
    if (last === undefined) return;
    const files: NewFile[] = [];
    const bytes = Buffer.concat(entries.map((entry) => encodeEntry(withoutFiles(entry, files))));
    const mustSync =
      this.#sync === "always" ||
      (this.#sync === "commit" && entries.some(({ type }) => !canWait.has(type)));
    const tip = { last, nextSeq: last.seq + 1 };
    const written = new Promise<void>((resolve, reject) => {
      const settle = (error?: BowlineError): void =>
        error === undefined ? resolve() : reject(error);
      this.#waiting.push({ bytes, files, mustSync, tip, settle });
    });
    this.#tip = tip;
    this.#working ??= this.#work();
    await written;
  }

  /** Waits for pending appends and closes the file. Safe to call twice. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    try {
      await this.#working;
      if (this.#isUnsynced && this.#sync !== "never") await this.#file.datasync();
    } catch (error) {
      throw storageError(error, `Writing ${this.#path}`);
    } finally {
      await this.#file.close();
    }
  }

  async #work(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      await this.#write(batch);
    }
    this.#working = undefined;
  }

  async #write(batch: readonly Waiting[]): Promise<void> {
    if (this.#lost !== undefined) return this.#reject(batch, this.#lost);
    const bytes =
      batch.length === 1
        ? (batch[0] as Waiting).bytes
        : Buffer.concat(batch.map((one) => one.bytes));
    let isWritten = false;
    try {
      await this.#files.write(batch.flatMap(({ files }) => files));
      await writeAll(this.#file, bytes);
      isWritten = true;
      const mustSync = batch.some((one) => one.mustSync);
      if (mustSync) await this.#file.datasync();
      this.#isUnsynced = !mustSync;
    } catch (error) {
      await this.#fail(error, isWritten, batch);
      return;
    }
    this.#length += bytes.length;
    this.#written = (batch.at(-1) as Waiting).tip;
    for (const { settle } of batch) settle();
  }

  async #fail(error: unknown, isWritten: boolean, batch: readonly Waiting[]): Promise<void> {
    const failed = [...batch, ...this.#waiting];
    this.#waiting = [];
    this.#tip = this.#written; // at once, so that new appends continue from the last written entry
    // After a failed sync, the system may have discarded unwritten data.
    if (isWritten) this.#giveUp(error);
    try {
      await this.#file.truncate(this.#length);
    } catch (cause) {
      this.#giveUp(cause);
    }
    this.#reject(failed, this.#lost ?? storageError(error, `Writing ${this.#path}`));
  }

  #reject(failed: readonly Waiting[], error: BowlineError): void {
    if (this.#lost !== undefined) this.#tip = this.#written;
    for (const { settle } of failed) settle(error);
  }

  #giveUp(error: unknown): void {
    const { message, cause, retryable } = storageError(error, `Writing ${this.#path}`);
    const text = `${message} Open the session again.`;
    this.#lost ??= new BowlineError("storage_failed", text, { cause, retryable });
  }
}
