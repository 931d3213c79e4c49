/**
 * Tells Restate of answers whose runs have not gone on: it may have been away when they were stored, or
 * the gateway that stored them died. Telling twice is harmless.
 */
import type { Clock } from "@bowline/core";
import type { PostgresStore } from "@bowline/postgres";
import type { RestateClient } from "@bowline/restate";
import { tellAnswer } from "./telling.ts";
import { Told } from "./told.ts";

/** How old an answer is before it is told again, in milliseconds. */
const WAIT_MS = 2000;
/** Answers of one look. */
const PAGE = 100;

export interface AnswerSweepOptions {
  readonly store: PostgresStore;
  readonly restate: Pick<RestateClient, "tellAnswer">;
  readonly clock: Clock;
  readonly report: (error: unknown) => void;
}

export class AnswerSweep {
  readonly #options: AnswerSweepOptions;
  readonly #told = new Told();
  /** The position of the last answer that was looked at. Undefined: begins with the oldest. */
  #after: string | undefined;

  constructor(options: AnswerSweepOptions) {
    this.#options = options;
  }

  /** Looks once. Ends when Restate does not answer. */
  async sweep(): Promise<void> {
    const { store, clock } = this.#options;
    const now = clock.now();
    const page = await store.durable.answeredSince(now - WAIT_MS, PAGE, this.#after);
    for (const { position, ...answered } of page) {
      const key = JSON.stringify([answered.sessionId, answered.approvalId, answered.answer.at]);
      if (!this.#told.isRecent(key, now)) {
        if (!(await tellAnswer(answered, this.#options))) return;
        this.#told.note(key, now);
      }
      this.#after = position;
    }
    if (page.length < PAGE) this.#after = undefined;
  }
}
