/** What ends a command before its own end: its time limit, an abort, too much output. */
import type { LiveCommand } from "./live-command.ts";

/** From SIGTERM to SIGKILL. An abort has to be over within a second. */
const GRACE_MS = { timeout: 2_000, aborted: 300, flood: 300 } as const;
/** From SIGKILL to giving up on a process that even that does not end. */
const GIVE_UP_MS = 500;

export interface Limits {
  readonly timeoutMs: number;
  /** The most output, in bytes. */
  readonly maxOutput: number;
  readonly signal: AbortSignal;
}

export class CommandLimits {
  readonly #command: LiveCommand;
  readonly #limits: Limits;
  readonly #timers: NodeJS.Timeout[] = [];
  #bytes = 0;
  #isInTime = false;
  #reason: keyof typeof GRACE_MS | undefined;
  #giveUp = (): void => {};
  /** Resolves when the command was killed and has still not ended. Else it stays as it is. */
  readonly patience: Promise<undefined> = new Promise((resolve) => {
    this.#giveUp = () => resolve(undefined);
  });

  constructor(command: LiveCommand, limits: Limits) {
    this.#command = command;
    this.#limits = limits;
    this.#timers.push(setTimeout(this.#onTime, limits.timeoutMs));
    limits.signal.addEventListener("abort", this.#onAbort, { once: true });
    if (limits.signal.aborted) this.#onAbort();
  }

  /** Why it was stopped, if it was. */
  get reason(): keyof typeof GRACE_MS | undefined {
    return this.#reason;
  }

  addOutput(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > this.#limits.maxOutput) this.#stop("flood");
  }

  /**
   * The command itself has ended, and need not hurry any more. Its output may still come, or an
   * abort.
   */
  releaseTime(): void {
    this.#isInTime = true;
  }

  /** No limit holds any longer. */
  release(): void {
    this.releaseTime();
    for (const timer of this.#timers) clearTimeout(timer);
    this.#limits.signal.removeEventListener("abort", this.#onAbort);
  }

  // Timers come before all else: that it ended in time may not have been heard yet.
  readonly #onTime = (): void => {
    setImmediate(() => {
      if (!this.#isInTime) this.#stop("timeout");
    });
  };

  readonly #onAbort = (): void => this.#stop("aborted");

  #stop(reason: keyof typeof GRACE_MS): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.#command.end(GRACE_MS[reason]);
    this.#timers.push(setTimeout(this.#giveUp, GRACE_MS[reason] + GIVE_UP_MS));
  }
}
