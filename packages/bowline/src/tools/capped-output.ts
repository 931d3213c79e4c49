/** The output of a command: its head and its tail in constant memory, all of it in a file once it is too long. */
import { randomUUID } from "node:crypto";
import { closeSync, openSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const MAX_CHARACTERS = 30_000;
const HALF = MAX_CHARACTERS / 2;
const MAX_FILE_CHARACTERS = 100_000_000;

export class CappedOutput {
  /** Everything, as long as it fits; then only the head. */
  #head = "";
  #tail = "";
  #length = 0;
  #file: number | undefined;
  #path: string | undefined;
  #isFileFull = false;

  /** The file with the full text, if there is one. */
  get path(): string | undefined {
    return this.#path;
  }

  get isTruncated(): boolean {
    return this.#length > MAX_CHARACTERS;
  }

  add(text: string): void {
    const wasTruncated = this.isTruncated;
    this.#length += text.length;
    if (!this.isTruncated) {
      this.#head += text;
      return;
    }
    if (!wasTruncated) {
      const all = this.#head + text;
      this.#openFile();
      this.#write(all);
      [this.#head, this.#tail] = [all.slice(0, HALF), all.slice(HALF)];
    } else {
      this.#write(text);
      this.#tail += text;
    }
    // Cut only now and then, so that a byte is copied a bounded number of times.
    if (this.#tail.length > 4 * HALF) this.#tail = this.#tail.slice(-HALF);
  }

  /** Call once, after the last `add`. */
  finish(): string {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
    if (!this.isTruncated) return this.#head;
    const head = this.#head.replace(/[\uD800-\uDBFF]$/, "");
    const tail = this.#tail.slice(-HALF).replace(/^[\uDC00-\uDFFF]/, "");
    const part = this.#isFileFull ? `its first ${MAX_FILE_CHARACTERS} are` : "the full output is";
    const where = this.#path === undefined ? "the full output could not be kept" : `${part} in ${this.#path}`;
    const gap = `[${this.#length - head.length - tail.length} characters left out here; ${where}]`;
    return `${head}${head.endsWith("\n") ? "" : "\n"}${gap}\n${tail}`;
  }

  #openFile(): void {
    const path = join(tmpdir(), `bowline-output-${randomUUID()}.txt`);
    try {
      this.#file = openSync(path, "wx", 0o600);
      this.#path = path;
    } catch {
      // The head and the tail are still there, and the result says so.
    }
  }

  #write(text: string): void {
    if (this.#file === undefined || this.#isFileFull) return;
    this.#isFileFull = this.#length > MAX_FILE_CHARACTERS;
    try {
      writeSync(this.#file, text);
    } catch {
      this.#path = undefined; // a full disk
    }
  }
}
