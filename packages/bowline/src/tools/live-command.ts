/** A command that runs, until nothing of it is left. */
import { signalTree, type CommandTree } from "./command-tree.ts";
import type { Guard } from "./guard.ts";

/** Looks while it is given time to end: most end at once. */
const LOOK_MS = 100;
/** Looks while it is killed, and for how long. */
const KILL_LOOK_MS = 10;
const KILL_MS = 400;
/** What forks and ends all the time can be missed in one look. */
const QUIET_LOOKS = 3;

export class LiveCommand {
  readonly tree: CommandTree;
  readonly #guard: Guard;
  /** The processes that know that they are to end. */
  readonly #asked = new Set<number>();
  #isOver = false;

  /** The guard keeps it from outliving this process. */
  constructor(tree: CommandTree, guard: Guard) {
    this.tree = tree;
    this.#guard = guard;
    guard.watch(tree);
  }

  /** Asks all of it to end, and kills after `graceMs` what has not. */
  end(graceMs: number): void {
    for (const { pid } of signalTree(this.tree, "SIGTERM").reached) this.#asked.add(pid);
    this.#waitOut(performance.now() + graceMs, QUIET_LOOKS);
  }

  /** Nothing of it is left. */
  release(): void {
    if (!this.#isOver) this.#guard.dismiss();
    this.#isOver = true;
  }

  #waitOut(deadline: number, looks: number): void {
    const rest = deadline - performance.now();
    const look = (): void => {
      if (this.#isOver) return;
      const late = performance.now() - deadline;
      const { reached } =
        late < 0 ? signalTree(this.tree, "SIGTERM", this.#asked) : signalTree(this.tree, "SIGKILL");
      for (const { pid } of reached) this.#asked.add(pid);
      const left = reached.length === 0 ? looks - 1 : QUIET_LOOKS;
      if (left === 0 || late > KILL_MS) this.release();
      else this.#waitOut(deadline, left);
    };
    // This process may end meanwhile: then the guard kills.
    setTimeout(look, rest > 0 ? Math.min(LOOK_MS, rest) : KILL_LOOK_MS).unref();
  }
}
