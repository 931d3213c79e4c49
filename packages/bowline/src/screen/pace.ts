/** Decides when the next frame may be drawn. */

/** At most 30 frames a second. */
const FRAME_MS = 33;
/** A key is shown sooner: a person waits for it. */
const KEY_FRAME_MS = 6;
/**
 * How long nothing is drawn after a resize. A frame that was made for one width and arrives at
 * another damages printed lines.
 */
const RESIZE_MS = 100;
/** Multiplexers such as tmux report a change up to 250 ms after they have made it. */
const LATE_RESIZE_MS = 300;
/** A window that never stops changing is drawn at these intervals. */
const MAX_HOLD_MS = 5000;

export interface PaceOptions {
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export class Pace {
  readonly #now: () => number;
  readonly #resizeMs: number;
  #drawnAt = -Infinity;
  #isForKey = false;
  #heldFrom: number | undefined;
  #heldUntil = -Infinity;

  constructor({ now, env }: PaceOptions) {
    this.#now = now;
    this.#resizeMs = isMultiplexed(env) ? LATE_RESIZE_MS : RESIZE_MS;
  }

  /** The next frame shows a key. */
  key(): void {
    this.#isForKey = true;
  }

  /** The window changes: frames wait until it has stopped. */
  resized(): void {
    const now = this.#now();
    this.#heldFrom ??= now;
    this.#heldUntil = Math.min(now + this.#resizeMs, this.#heldFrom + MAX_HOLD_MS);
  }

  /** Returns the milliseconds until the next frame may be drawn. */
  wait(): number {
    const due = this.#drawnAt + (this.#isForKey ? KEY_FRAME_MS : FRAME_MS);
    return Math.max(0, Math.max(due, this.#heldUntil) - this.#now());
  }

  drawn(): void {
    this.#drawnAt = this.#now();
    this.#isForKey = false;
    this.#heldFrom = undefined;
  }
}

function isMultiplexed({ TMUX, STY, ZELLIJ, TERM = "" }: PaceOptions["env"]): boolean {
  return [TMUX, STY, ZELLIJ].some((one) => one !== undefined) || /^(?:tmux|screen)/.test(TERM);
}
