/** When Restate was told of something, so that it is told again after a while only. */

/** How long something that was told is left alone, in milliseconds: its session may be busy for days. */
const AGAIN_MS = 60_000;
/** The most that is remembered. */
const MAX_TOLD = 20_000;

export class Told {
  /** Oldest first. */
  readonly #times = new Map<string, number>();

  isRecent(key: string, now: number): boolean {
    return now - (this.#times.get(key) ?? -Infinity) < AGAIN_MS;
  }

  note(key: string, now: number): void {
    this.#times.delete(key);
    this.#times.set(key, now);
    const [oldest] = this.#times.keys();
    if (this.#times.size > MAX_TOLD && oldest !== undefined) this.#times.delete(oldest);
  }
}
