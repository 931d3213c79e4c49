/** A running command with all its processes. */
import { signalTree, type CommandTree } from "./command-tree.ts";
import type { Guard } from "./guard.ts";

/** Interval between checks after SIGTERM. Most processes end at once. */
const LOOK_MS = 100;
/** Interval between checks after SIGKILL, and how long they continue. */
const KILL_LOOK_MS = 10;
const KILL_MS = 400;
/**
 * Checks without a process before the command counts as ended. One check can miss a process that
 * forks and exits continuously.
 */
const QUIET_LOOKS = 3;

export class LiveCommand {
  readonly tree: CommandTree;
  readonly #guard: Guard;
  /** Ids of processes that received SIGTERM. */
  readonly #asked = new Set<number>();
  #isOver = false;

  /** Starts the guard's watch, so that the command does not outlive this process. */
  constructor(tree: CommandTree, guard: Guard) {
    this.tree = tree;
    this.#guard = guard;
    guard.watch(tree);
  }

  /** Sends SIGTERM to all processes, and SIGKILL after `graceMs`. */
  end(graceMs: number): void {
    for (const { pid } of signalTree(this.tree, "SIGTERM").reached) this.#asked.add(pid);
    this.#waitOut(performance.now() + graceMs, QUIET_LOOKS);
  }

  /** Marks the command as ended and dismisses the guard. */
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
    // If this process exits meanwhile, the guard kills the command.
    setTimeout(look, rest > 0 ? Math.min(LOOK_MS, rest) : KILL_LOOK_MS).unref();
  }
}
