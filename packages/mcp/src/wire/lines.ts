/** Splits bytes into lines, in time linear in their number. */

/** Collects chunks until a line is complete. A line longer than the limit throws. */
export class Lines {
  readonly #limit: number;
  #parts: Buffer[] = [];
  #length = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Yields the lines that this chunk completes, without their ends. */
  *push(chunk: Buffer): Generator<string, void> {
    let rest = chunk;
    for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10)) {
      this.#add(rest.subarray(0, end));
      rest = rest.subarray(end + 1);
      const line = Buffer.concat(this.#parts).toString("utf8");
      this.#clear();
      yield line.endsWith("\r") ? line.slice(0, -1) : line;
    }
    this.#add(rest);
  }

  #add(part: Buffer): void {
    this.#length += part.length;
    if (this.#length > this.#limit) {
      this.#clear();
      throw new Error(`a message is longer than ${this.#limit} bytes`);
    }
    this.#parts.push(part);
  }

  #clear(): void {
    this.#parts = [];
    this.#length = 0;
  }
}
