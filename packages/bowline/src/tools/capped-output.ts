/**
 * The output of a command: its head and its tail in constant memory, all of it in a file once it is
 * too long or no text.
 */
import { OutputFile, MAX_FILE_BYTES } from "./output-file.ts";
import { escapeControls, isBinary, nameBinary } from "./output-text.ts";

const HEAD_BYTES = 64;

export class CappedOutput {
  readonly #file: OutputFile;
  /** The most characters of the result. */
  readonly #most: number;
  /** Of them, those of the head. */
  readonly #half: number;
  readonly #decoder = new TextDecoder();
  #start: Buffer = Buffer.alloc(0);
  /** Everything, as long as it fits; then only the head. */
  #head = "";
  #tail = "";
  #length = 0;

  /** Shows `most` characters. The full text goes to a file in `folder`, if it has to. */
  constructor(folder: string, most: number) {
    this.#file = new OutputFile(folder);
    this.#most = most;
    this.#half = Math.floor(most / 2);
  }

  /** The file with the full output, if there is one. */
  get path(): string | undefined {
    return this.#file.path;
  }

  get isTruncated(): boolean {
    return this.#length > this.#most;
  }

  /** Gives the characters that are whole by now. */
  add(chunk: Buffer): string {
    if (this.#start.length < HEAD_BYTES)
      this.#start = Buffer.concat([this.#start, chunk.subarray(0, HEAD_BYTES)]);
    this.#file.add(chunk);
    const text = this.#decoder.decode(chunk, { stream: true });
    this.#append(text);
    return text;
  }

  /** What a model may see of it. Call once, after the last `add`. */
  finish(): string {
    this.#append(this.#decoder.decode());
    const head = this.isTruncated ? this.#head.replace(/[\uD800-\uDBFF]$/, "") : this.#head;
    const tail = this.#tail.slice(-this.#half).replace(/^[\uDC00-\uDFFF]/, "");
    const hidden = [head, tail].some(isBinary);
    if (hidden) this.#file.open();
    this.#file.close();
    const shown = isBinary(head)
      ? `[binary output is not shown: ${nameBinary(this.#start)}]`
      : escapeControls(head);
    if (!this.isTruncated) return hidden ? `${shown}\n[${this.#where()}]` : shown;
    const gap = `[${this.#length - head.length - tail.length} characters left out here; ${this.#where()}]`;
    return `${shown}${shown.endsWith("\n") ? "" : "\n"}${gap}\n${isBinary(tail) ? "[binary output is not shown]" : escapeControls(tail)}`;
  }

  #append(text: string): void {
    const wasTruncated = this.isTruncated;
    this.#length += text.length;
    if (!this.isTruncated) {
      this.#head += text;
      return;
    }
    if (!wasTruncated) {
      this.#file.open();
      const all = this.#head + text;
      [this.#head, this.#tail] = [all.slice(0, this.#half), all.slice(this.#half)];
    } else this.#tail += text;
    // Cut only now and then, so that a byte is copied a bounded number of times.
    if (this.#tail.length > 4 * this.#half) this.#tail = this.#tail.slice(-this.#half);
  }

  #where(): string {
    const { path, isCut } = this.#file;
    if (path === undefined) return "the full output could not be kept";
    return `${isCut ? `its first ${MAX_FILE_BYTES} bytes are` : "the full output is"} in ${path}`;
  }
}
