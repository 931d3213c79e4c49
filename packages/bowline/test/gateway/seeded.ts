/**
 * Returns a generator of numbers from 0 up to 1. The same seed gives the same numbers on every
 * machine.
 */
export function seeded(seed: number): () => number {
  let state = Math.imul(seed ^ 0x5bd1e995, 0x27d4eb2d);
  return () => {
    state = (state + 0x9e3779b9) | 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  };
}
