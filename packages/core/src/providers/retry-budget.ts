/** How often a model call is tried again, and after which pause. */
import type { BowlineError } from "../errors.ts";
import { backoffMs } from "../transport/retry.ts";

/**
 * Answers that are no good, or were cut off, are asked for again on a budget of their own: each
 * costs the whole prompt.
 */
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

  /** Whether the next try needs a new connection, since one broke. */
  // Q230
  get isFresh(): boolean {
    return this.#isFresh;
  }

  /** Counts a try whose failure taught what to ask instead: it uses up nothing. */
  countLesson(): void {
    this.#lessons++;
  }

  /** Counts the failure of a try. `isSpent`: there may be no further one. */
  count(
    error: BowlineError,
    attempt: number,
    isCutOff: boolean,
  ): { readonly delayMs: number; readonly isSpent: boolean } {
    const isPoor = isCutOff || isPoorAnswer(error);
    const count = isPoor ? ++this.#poorAnswers : attempt - this.#poorAnswers - this.#lessons;
    const budget = isPoor ? Math.min(this.#maxRetries, MAX_POOR_ANSWERS) : this.#maxRetries;
    // A pooled connection that broke says nothing of the server: at once again, on one that is new
    // (Q230).
    const isBroken = error.code === "connection_failed";
    const delayMs = isBroken && !this.#isFresh ? 0 : backoffMs(count, error, this.#random());
    this.#isFresh ||= isBroken;
    return { delayMs, isSpent: !(count <= budget) };
  }
}

/**
 * Whether the server is well and the answer was no good: empty, or a call that the model botched.
 */
// Q092, Q104, Q207
function isPoorAnswer({ code, status }: BowlineError): boolean {
  return (
    code === "empty_response" || status === 400 || (code === "server_error" && status === undefined)
  );
}
