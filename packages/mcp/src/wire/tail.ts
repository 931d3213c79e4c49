/** Characters to leave out at a cut that has no line end. They may hold the end of a secret. */
const MAX_SECRET = 1_024;

/** Keeps the last bytes of a stream. */
export class Tail {
  readonly #limit: number;
  #bytes = Buffer.alloc(0);
  #isCut = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  push(chunk: Buffer): void {
    const end = chunk.subarray(-this.#limit);
    this.#isCut ||= this.#bytes.length + chunk.length > this.#limit;
    this.#bytes = Buffer.concat([this.#bytes, end]).subarray(-this.#limit);
  }

  /** The text, from the beginning of a line if earlier bytes were dropped. */
  get text(): string {
    const text = this.#bytes.toString("utf8");
    if (!this.#isCut) return text;
    const line = text.slice(0, MAX_SECRET).indexOf("\n") + 1;
    return text.slice(line > 0 ? line : MAX_SECRET);
  }
}
