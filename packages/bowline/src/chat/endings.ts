/** Ends with a conversation the things that it started, such as servers. */
export class Endings {
  /** Absent once the conversation has ended. */
  #all: (() => Promise<void>)[] | undefined = [];

  /** Calls `end` when the conversation ends, or at once if it has ended. */
  async add(end: () => Promise<void>): Promise<void> {
    if (this.#all === undefined) await end();
    else this.#all.push(end);
  }

  async end(): Promise<void> {
    const all = this.#all ?? [];
    this.#all = undefined;
    await Promise.all(all.map((end) => end()));
  }
}
