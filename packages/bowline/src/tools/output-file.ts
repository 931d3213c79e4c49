/**
 * All that a command printed, byte for byte: in memory while that is little, then in a file of
 * bounded size.
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

/** Of a longer output the file has the beginning. */
export const MAX_FILE_BYTES = 100_000_000;
/** All such files of this person in one folder; beyond it the oldest go. */
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

  /** Where it is, if it was opened and nothing went wrong. */
  get path(): string | undefined {
    return this.#path;
  }

  /** Whether there was more than it may hold. */
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
   * Moves what there is from memory to the disk, where all that follows goes too. Without room for
   * it there is no file.
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
      // The caller still has a part to show, and says that there is no more.
    }
    this.#write(this.early);
    this.#early.length = 0;
  }

  close(): void {
    if (this.#descriptor === undefined) return;
    // A command that clears the temporary folder takes its own output along.
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
      // Half a file would only take up what little room there is.
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

/** Removes the oldest files, so that one more will not be too many. */
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
