/** The texts that were deleted by word or line, to be put in again. */

const MAX_TEXTS = 30;

export class KillRing {
  #texts: string[] = [];

  get texts(): readonly string[] {
    return this.#texts;
  }

  /** Adds a text, or extends the newest one on the side of the deletion. */
  add(text: string, side: "before" | "after", isContinued: boolean): void {
    if (text === "") return;
    const last = isContinued ? (this.#texts.pop() ?? "") : "";
    this.#texts.push(side === "before" ? text + last : last + text);
    if (this.#texts.length > MAX_TEXTS) this.#texts.shift();
  }

  /** Returns the newest text, or undefined. */
  newest(): string | undefined {
    return this.#texts.at(-1);
  }

  /** Makes the next older text the newest, and returns it. */
  rotate(): string | undefined {
    const last = this.#texts.pop();
    if (last !== undefined) this.#texts.unshift(last);
    return this.newest();
  }
}
