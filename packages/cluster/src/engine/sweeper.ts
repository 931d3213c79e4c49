/**
 * Tells Restate of messages that wait for long: it may have been away when they were accepted, or the
 * gateway that accepted them died. Telling twice is harmless.
 */
import { isBowlineError, type Clock } from "@bowline/core";
import type { PostgresStore, WaitingMessage } from "@bowline/postgres";
import type { RestateClient } from "@bowline/restate";
import { Told } from "./told.ts";

/** How long a message waits before it is told again, in milliseconds. */
const WAIT_MS = 5000;
/** How often to look, in milliseconds; up to half more, so that gateways do not look together. */
const EVERY_MS = 2000;
/** Messages of one look. */
const PAGE = 100;

/** Looks once. */
interface Sweep {
  sweep(): Promise<void>;
}

export interface SweeperOptions {
  readonly store: PostgresStore;
  readonly restate: Pick<RestateClient, "resend">;
  /** Other sweeps, called in this order after that of the messages. */
  readonly others: readonly Sweep[];
  readonly clock: Clock;
  readonly report: (error: unknown) => void;
}

export class Sweeper implements Sweep {
  readonly #options: SweeperOptions;
  readonly #told = new Told();
  /** The position of the last message that was looked at. Undefined: begins with the oldest. */
  #after: string | undefined;
  #stopTimer = (): void => {};
  #sweeping: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(options: SweeperOptions) {
    this.#options = options;
    this.#later();
  }

  /** Resolves when nothing is being told any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopTimer();
    await this.#sweeping;
  }

  /** Looks once. */
  async sweep(): Promise<void> {
    const { store, clock } = this.#options;
    const now = clock.now();
    const page = await store.durable.waitingSince(now - WAIT_MS, PAGE, this.#after);
    for (const message of page) {
      if (this.#isClosed || !(await this.#tell(message, now))) return;
      this.#after = message.position;
    }
    if (page.length < PAGE) this.#after = undefined;
  }

  /** Resolves with false if Restate does not answer. */
  async #tell(message: WaitingMessage, now: number): Promise<boolean> {
    const { restate, report } = this.#options;
    const key = JSON.stringify([message.sessionId, message.id, message.returns]);
    if (this.#told.isRecent(key, now)) return true;
    try {
      await restate.resend(message);
    } catch (error) {
      report(error);
      if (isBowlineError(error) && error.retryable) return false;
    }
    this.#told.note(key, now);
    return true;
  }

  #later(): void {
    const ms = EVERY_MS * (1 + Math.random() / 2);
    this.#stopTimer = this.#options.clock.setTimer(ms, () => {
      this.#sweeping = this.#sweepAll().finally(() => {
        if (!this.#isClosed) this.#later();
      });
    });
  }

  /** An error of one does not keep the others from their turn. */
  async #sweepAll(): Promise<void> {
    for (const part of [this, ...this.#options.others])
      if (!this.#isClosed) await part.sweep().catch(this.#options.report);
  }
}
