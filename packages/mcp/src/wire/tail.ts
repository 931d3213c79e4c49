/** Keeps the last bytes of a stream. */
export class Tail {
  readonly #limit: number;
  #bytes = Buffer.alloc(0);

  constructor(limit: number) {
    this.#limit = limit;
  }

  push(chunk: Buffer): void {
    const end = chunk.subarray(-this.#limit);
    this.#bytes = Buffer.concat([this.#bytes, end]).subarray(-this.#limit);
  }

  get text(): string {
    return this.#bytes.toString("utf8");
  }
}
