/** Moves the clocks on the screen while something works. */

/** In milliseconds. */
const TICK_MS = 200;

export class Ticker {
  readonly #tick: () => void;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(tick: () => void) {
    this.#tick = tick;
  }

  /** Ticks at once, and then regularly as long as it is needed. */
  set(isNeeded: boolean): void {
    this.#tick();
    if (isNeeded === (this.#timer !== undefined)) return;
    clearInterval(this.#timer);
    this.#timer = isNeeded ? setInterval(this.#tick, TICK_MS) : undefined;
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
