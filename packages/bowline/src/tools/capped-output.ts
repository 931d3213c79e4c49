/**
 * Buffers the head and tail of a command's output in constant memory. The full output goes to a
 * file once it is too long or binary.
 */
import { OutputFile, MAX_FILE_BYTES } from "./output-file.ts";
import { escapeControls, isBinary, nameBinary } from "./output-text.ts";

const HEAD_BYTES = 64;

export class CappedOutput {
  readonly #file: OutputFile;
  /** The maximum length of the result, in characters. */
  readonly #most: number;
  /** The maximum length of the head and of the tail, in characters. */
  readonly #half: number;
  readonly #decoder = new TextDecoder();
  #start: Buffer = Buffer.alloc(0);
  /** All output while it fits, later only the head. */
  #head = "";
  #tail = "";
  #length = 0;

  /** Shows up to `most` characters. Writes the full output to a file in `folder` if needed. */
  constructor(folder: string, most: number) {
    this.#file = new OutputFile(folder);
    this.#most = most;
    this.#half = Math.floor(most / 2);
  }

  /** The file with the full output, if any. */
  get path(): string | undefined {
    return this.#file.path;
  }

  get isTruncated(): boolean {
    return this.#length > this.#most;
  }

  /** Adds a chunk. Returns the decoded text; an incomplete character waits for the next chunk. */
  add(chunk: Buffer): string {
    if (this.#start.length < HEAD_BYTES)
      this.#start = Buffer.concat([this.#start, chunk.subarray(0, HEAD_BYTES)]);
    this.#file.add(chunk);
    const text = this.#decoder.decode(chunk, { stream: true });
    this.#append(text);
    return text;
  }

  /** Returns the text for the model. Call once, after the last `add`. */
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
    // Cut only occasionally, so that each byte is copied a bounded number of times.
    if (this.#tail.length > 4 * this.#half) this.#tail = this.#tail.slice(-this.#half);
  }

  #where(): string {
    const { path, isCut } = this.#file;
    if (path === undefined) return "the full output could not be kept";
    return `${isCut ? `its first ${MAX_FILE_BYTES} bytes are` : "the full output is"} in ${path}`;
  }
}
