/** Runs work on a session in the order of the calls, in this process. */
export class InOrder {
  readonly #tails = new Map<string, Promise<unknown>>();

  run<T>(sessionKey: string, work: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(sessionKey) ?? Promise.resolve();
    const done = before.then(work, work);
    const tail: Promise<void> = done.then(
      () => this.#leave(sessionKey, tail),
      () => this.#leave(sessionKey, tail),
    );
    this.#tails.set(sessionKey, tail);
    return done;
  }

  #leave(sessionKey: string, tail: Promise<void>): void {
    if (this.#tails.get(sessionKey) === tail) this.#tails.delete(sessionKey);
  }
}
