/** How many runs go on at the same time, of all sessions, and which wait for that. */
import type { Lane } from "./lane.ts";
import type { Run } from "./run.ts";

export class RunCap {
  readonly #max: number;
  readonly #active = new Set<Run>();
  /** They are said to have started, and will when the answer is out. */
  readonly #promised = new Set<Run>();
  /** Their turn has come, and there is no room yet. */
  readonly #ready = new Map<Run, Lane>();

  constructor(max: number) {
    this.#max = max;
  }

  /** Of those that go on. */
  get count(): number {
    return this.#active.size;
  }

  /** Whether it can be said to have started. */
  promise(run: Run): boolean {
    if (this.#active.size + this.#promised.size >= this.#max) return false;
    this.#promised.add(run);
    return true;
  }

  /** Its answer is out. */
  keep(run: Run): void {
    this.#promised.delete(run);
  }

  /** Whether it may start now; if not, its lane is among those of the next {@link leave}. */
  enter(run: Run, lane: Lane): boolean {
    if (this.#active.size >= this.#max) {
      this.#ready.set(run, lane);
      return false;
    }
    this.#active.add(run);
    return true;
  }

  /** It has ended. Gives the lanes that wait for room, in order. */
  leave(run: Run): Lane[] {
    this.#active.delete(run);
    const lanes = [...this.#ready.values()];
    this.#ready.clear();
    return lanes;
  }
}
