/** Wakes the followers of sessions. */

export interface Watch {
  /** Call it before reading, so that a later change is noticed. */
  forget(): void;
  /** Resolves at a change since `forget`, after `ms`, when the signal fires, or at the store's end. */
  wait(ms: number, signal: AbortSignal | undefined): Promise<void>;
  close(): void;
}

export class Watchers {
  readonly #bySession = new Map<number, Set<() => void>>();
  #isEnded = false;

  get isEmpty(): boolean {
    return this.#bySession.size === 0;
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Wakes the followers of a session. */
  change(number: number): void {
    for (const wake of this.#bySession.get(number) ?? []) wake();
  }

  /** Wakes all followers, because notifications may have been missed. */
  changeAll(): void {
    for (const number of this.#bySession.keys()) this.change(number);
  }

  /** Ends all followers. */
  end(): void {
    this.#isEnded = true;
    this.changeAll();
  }

  watch(number: number): Watch {
    let hasChanged = false;
    let wake = (): void => {};
    const change = (): void => {
      hasChanged = true;
      wake();
    };
    const all = this.#bySession.get(number) ?? new Set();
    this.#bySession.set(number, all.add(change));
    return {
      forget: () => void (hasChanged = false),
      async wait(ms, signal) {
        if (hasChanged || signal?.aborted === true) return;
        let timer: NodeJS.Timeout | undefined;
        await new Promise<void>((resolve) => {
          wake = resolve;
          timer = setTimeout(resolve, ms);
          signal?.addEventListener("abort", wake, { once: true });
        });
        clearTimeout(timer);
        signal?.removeEventListener("abort", wake);
      },
      close: () => {
        all.delete(change);
        if (all.size === 0) this.#bySession.delete(number);
      },
    };
  }
}
