/** The limits that can end a command: its timeout, an abort, too much output. */
import type { LiveCommand } from "./live-command.ts";

/** Time from SIGTERM to SIGKILL. An abort must be over within a second. */
const GRACE_MS = { timeout: 2_000, aborted: 300, flood: 300 } as const;
/** Time after SIGKILL until a process that survives it is given up. */
const GIVE_UP_MS = 500;

export interface Limits {
  readonly timeoutMs: number;
  /** The maximum output, in bytes. */
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
  /** Resolves if the command survives SIGKILL. Otherwise it stays pending. */
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

  /** Why the command was stopped; undefined if it was not. */
  get reason(): keyof typeof GRACE_MS | undefined {
    return this.#reason;
  }

  addOutput(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > this.#limits.maxOutput) this.#stop("flood");
  }

  /**
   * Ends the timeout because the command itself has exited. Aborts and the output limit still
   * apply.
   */
  releaseTime(): void {
    this.#isInTime = true;
  }

  /** Removes all limits. */
  release(): void {
    this.releaseTime();
    for (const timer of this.#timers) clearTimeout(timer);
    this.#limits.signal.removeEventListener("abort", this.#onAbort);
  }

  // Node runs timers first, so an exit in time may not have been reported yet.
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
