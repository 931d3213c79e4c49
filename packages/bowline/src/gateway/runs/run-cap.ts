/** How many runs go on at the same time, of all sessions, and which wait for that. */
import type { Lane } from "./lane.ts";
import type { Run } from "./run.ts";

export class RunCap {
  readonly #max: number;
  /** They go on, or are said to have started, and will when the answer is out. */
  readonly #active = new Set<Run>();
  /** Their turn has come, and there is no room yet. */
  readonly #ready = new Map<Run, Lane>();

  constructor(max: number) {
    this.#max = max;
  }

  /** Of those that have started. */
  get count(): number {
    return this.#active.size;
  }

  /** Whether it can be said to have started: then there is room for it, until it leaves. */
  promise(run: Run): boolean {
    if (this.#active.size >= this.#max && !this.#active.has(run)) return false;
    this.#active.add(run);
    return true;
  }

  /** Whether it may start now; if not, its lane is among those of the next {@link leave}. */
  enter(run: Run, lane: Lane): boolean {
    const hasRoom = this.promise(run);
    if (!hasRoom) this.#ready.set(run, lane);
    return hasRoom;
  }

  /** It has ended, or will not be. Gives the lanes that wait for room, in order. */
  leave(run: Run): Lane[] {
    this.#active.delete(run);
    const lanes = [...this.#ready.values()];
    this.#ready.clear();
    return lanes;
  }
}
