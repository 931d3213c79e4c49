/** Compares tokens as hashes, in constant time. Counts wrong tokens per address. */
import { createHash, timingSafeEqual } from "node:crypto";
import { BowlineError, type Clock } from "@bowline/core";
import type { Scope } from "../protocol/frame.ts";

export interface Tokens {
  readonly full: string;
  /** Allows only methods that change nothing. */
  readonly read?: string;
}

interface TokenOptions {
  readonly token?: string | undefined;
  readonly tokens?: Tokens | undefined;
}

/**
 * Returns the tokens of the options, or undefined if none are given. Throws `invalid_argument` for
 * empty or equal tokens, or if both options are given.
 */
export function givenTokens({ token, tokens }: TokenOptions): Tokens | undefined {
  if (token !== undefined && tokens !== undefined)
    throw new BowlineError(
      "invalid_argument",
      "Give token or tokens, not both: token is short for tokens: { full: token }.",
    );
  const all = token === undefined ? tokens : { full: token };
  if (all !== undefined && (all.full === "" || all.read === "" || all.full === all.read))
    throw new BowlineError("invalid_argument", "The tokens must not be empty, nor the same.");
  return all;
}

const WINDOW_MS = 60_000;
const MAX_ADDRESSES = 10_000;

/** Returns undefined for a wrong token. Always compares both tokens. */
export function scopeOf(given: string, { full, read }: Tokens): Scope | undefined {
  const isFull = isSame(given, full);
  const isRead = read !== undefined && isSame(given, read);
  if (isFull) return "full";
  return isRead ? "read" : undefined;
}

function isSame(a: string, b: string): boolean {
  return timingSafeEqual(hash(a), hash(b));
}

function hash(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** Counts the wrong tokens of each address within a minute. */
export class FailedTries {
  readonly #max: number;
  readonly #clock: Clock;
  readonly #failures = new Map<string, { count: number; until: number }>();

  constructor(max: number, clock: Clock) {
    this.#max = max;
    this.#clock = clock;
  }

  /** Returns how long the address must wait, in milliseconds. Returns 0 if it may try. */
  waitOf(address: string): number {
    const left = this.#left(address);
    if (left === 0) this.#failures.delete(address);
    return (this.#failures.get(address)?.count ?? 0) >= this.#max ? left : 0;
  }

  add(address: string): void {
    const known = this.#failures.get(address);
    if (known !== undefined && this.#left(address) > 0) known.count++;
    else this.#failures.set(address, { count: 1, until: this.#clock.now() + WINDOW_MS });
    const [oldest] = this.#failures.keys();
    if (this.#failures.size > MAX_ADDRESSES && oldest !== undefined) this.#failures.delete(oldest);
  }

  /** Returns the rest of the address's minute. If the clock was set back, returns 0. */
  #left(address: string): number {
    const left = (this.#failures.get(address)?.until ?? 0) - this.#clock.now();
    return left > 0 && left <= WINDOW_MS ? left : 0;
  }
}
