/** Limits the concurrent runs of all sessions, and records which runs wait for a free place. */
import type { Lane } from "./lane.ts";
import type { Run } from "./run.ts";

export class RunCap {
  readonly #max: number;
  /** Runs that are active, or whose client will be told that they have started. */
  readonly #active = new Set<Run>();
  /** Runs that are next in their session and wait for a free place. */
  readonly #ready = new Map<Run, Lane>();

  constructor(max: number) {
    this.#max = max;
  }

  /** The number of started runs. */
  get count(): number {
    return this.#active.size;
  }

  /** Reserves a place for the run until it leaves. Returns false if none is free. */
  promise(run: Run): boolean {
    if (this.#active.size >= this.#max && !this.#active.has(run)) return false;
    this.#active.add(run);
    return true;
  }

  /** Returns whether the run may start now. Otherwise the next {@link leave} returns its lane. */
  enter(run: Run, lane: Lane): boolean {
    const hasRoom = this.promise(run);
    if (!hasRoom) this.#ready.set(run, lane);
    return hasRoom;
  }

  /**
   * Frees the run's place, when it has ended or will not start. Returns the waiting lanes, in
   * order.
   */
  leave(run: Run): Lane[] {
    this.#active.delete(run);
    const lanes = [...this.#ready.values()];
    this.#ready.clear();
    return lanes;
  }
}
