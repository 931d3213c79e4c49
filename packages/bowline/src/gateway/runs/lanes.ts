/** The lanes of all sessions in use. */
import type { Store } from "@bowline/core/session";
import { Lane } from "./lane.ts";

export class Lanes {
  readonly #store: Store;
  readonly #most: number;
  readonly #all = new Map<string, Lane>();

  /** Above `most` lanes, idle lanes are evicted. */
  constructor(store: Store, most: number) {
    this.#store = store;
    this.#most = most;
  }

  get all(): readonly Lane[] {
    return [...this.#all.values()];
  }

  /** Returns undefined if the session has no lane. */
  known(key: string): Lane | undefined {
    return this.#all.get(key);
  }

  of(key: string): Lane {
    const known = this.#all.get(key);
    if (known !== undefined) return known;
    const lane = new Lane(key, this.#store);
    this.#all.set(key, lane);
    if (this.#all.size > this.#most)
      for (const [other, { isIdle }] of this.#all)
        if (isIdle && other !== key) this.#all.delete(other);
    return lane;
  }
}
