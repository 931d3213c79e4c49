/**
 * Stores the output of a command byte for byte: in memory while short, then in a file of limited
 * size.
 */
import { randomUUID } from "node:crypto";
import {
  closeSync,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

/** Longer output is cut to this size. */
export const MAX_FILE_BYTES = 100_000_000;
/** Size limit of all output files of this user in one folder. The oldest are removed. */
const MAX_KEPT_BYTES = 1_000_000_000;
const NAME = /^bowline-output-[\da-f-]{36}\.txt$/;

export class OutputFile {
  readonly #folder: string;
  readonly #early: Buffer[] = [];
  #room = MAX_FILE_BYTES;
  #descriptor: number | undefined;
  #path: string | undefined;
  #isOpened = false;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The file's path, if it was opened and no write failed. */
  get path(): string | undefined {
    return this.#path;
  }

  /** Whether the output exceeded the limit. */
  get isCut(): boolean {
    return this.#room < 0;
  }

  /** The first bytes, until the file is opened. */
  get early(): Buffer {
    return Buffer.concat(this.#early);
  }

  add(chunk: Buffer): void {
    const part = chunk.subarray(0, Math.max(0, this.#room));
    this.#room -= chunk.length;
    if (part.length === 0) return;
    if (this.#isOpened) this.#write(part);
    else this.#early.push(part);
  }

  /**
   * Creates the file and moves the buffered output into it. Later output follows. If the file
   * cannot be created, `path` stays undefined.
   */
  open(): void {
    if (this.#isOpened) return;
    this.#isOpened = true;
    const path = join(this.#folder, `bowline-output-${randomUUID()}.txt`);
    try {
      makeRoom(this.#folder);
      this.#descriptor = openSync(path, "wx", 0o600);
      this.#path = path;
    } catch {
      // The caller still shows a part, and says that the rest is not available.
    }
    this.#write(this.early);
    this.#early.length = 0;
  }

  close(): void {
    if (this.#descriptor === undefined) return;
    // A command that clears the temporary folder also removes its own output.
    if (this.#path !== undefined && !isAt(this.#path, this.#descriptor)) this.#path = undefined;
    closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }

  #write(chunk: Buffer): void {
    const path = this.#path;
    if (this.#descriptor === undefined || path === undefined) return;
    try {
      writeFileSync(this.#descriptor, chunk);
    } catch {
      // Remove a partial file: it only uses scarce disk space.
      this.close();
      rmSync(path, { force: true });
      this.#path = undefined;
    }
  }
}

function isAt(path: string, descriptor: number): boolean {
  try {
    return lstatSync(path).ino === fstatSync(descriptor).ino;
  } catch {
    return false;
  }
}

/** Removes the oldest files to make room for one more. */
function makeRoom(folder: string): void {
  const files = readdirSync(folder)
    .filter((name) => NAME.test(name))
    .map((name) => ({
      path: join(folder, name),
      stats: lstatSync(join(folder, name), { throwIfNoEntry: false }),
    }))
    .filter(({ stats }) => stats?.isFile() === true && stats.uid === process.geteuid?.())
    .toSorted((a, b) => (b.stats?.mtimeMs ?? 0) - (a.stats?.mtimeMs ?? 0));
  let bytes = MAX_FILE_BYTES;
  for (const { path, stats } of files) {
    bytes += stats?.size ?? 0;
    if (bytes > MAX_KEPT_BYTES) rmSync(path, { force: true });
  }
}
