/** Counts the retries of a model call and computes their delays. */
import type { BowlineError } from "../errors.ts";
import { backoffMs } from "../transport/retry.ts";

/** Limits retries of answers that were poor or cut off, since each costs the whole prompt. */
const MAX_POOR_ANSWERS = 2;

export class RetryBudget {
  readonly #maxRetries: number;
  readonly #random: () => number;
  #poorAnswers = 0;
  #lessons = 0;
  #isFresh = false;

  constructor(maxRetries: number, random: () => number) {
    this.#maxRetries = maxRetries;
    this.#random = random;
  }

  /** Whether the next try needs a new connection, because one broke. */
  // Q230
  get isFresh(): boolean {
    return this.#isFresh;
  }

  /** Counts a try whose failure taught the wire how to ask. It does not use up a retry. */
  countLesson(): void {
    this.#lessons++;
  }

  /**
   * Counts a failed try. Returns the delay before the next one, and whether the budget is spent.
   */
  count(
    error: BowlineError,
    attempt: number,
    hasStarted: boolean,
  ): { readonly delayMs: number; readonly isSpent: boolean } {
    const isPoor = hasStarted || isPoorAnswer(error);
    const count = isPoor ? ++this.#poorAnswers : attempt - this.#poorAnswers - this.#lessons;
    const budget = isPoor ? Math.min(this.#maxRetries, MAX_POOR_ANSWERS) : this.#maxRetries;
    // A broken pooled connection says nothing about the server: retry at once, on a new connection
    // (Q230).
    const isBroken = error.code === "connection_failed";
    const delayMs = isBroken && !this.#isFresh ? 0 : backoffMs(count, error, this.#random());
    this.#isFresh ||= isBroken;
    return { delayMs, isSpent: !(count <= budget) };
  }
}

/**
 * Returns whether the server works but the answer was poor: empty, or with a tool call that the
 * server itself could not parse, which servers report as HTTP 400 or as an error in the stream.
 */
// Q092, Q104, Q207
function isPoorAnswer({ code, status }: BowlineError): boolean {
  return (
    code === "empty_response" || status === 400 || (code === "server_error" && status === undefined)
  );
}
