/** Random numbers that are the same for the same seed, for plans that can be repeated. */

export interface Random {
  /** A number from 0 up to 1. */
  next(): number;
  /** A whole number from `from` to `to`, both included. */
  between(from: number, to: number): number;
  /** True with this probability. */
  chance(probability: number): boolean;
  pick<T>(from: readonly T[]): T;
  /** Another generator. What it returns does not depend on how often this one is used later. */
  fork(): Random;
}

export function seeded(seed: number): Random {
  let state = Math.imul(seed ^ 0x5bd1e995, 0x27d4eb2d);
  const next = (): number => {
    state = (state + 0x9e3779b9) | 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    between: (from, to) => from + Math.floor(next() * (to - from + 1)),
    chance: (probability) => next() < probability,
    pick: <T>(from: readonly T[]): T => from[Math.floor(next() * from.length)] as T,
    fork: () => seeded(Math.floor(next() * 2 ** 31)),
  };
}
