/**
 * The lengths of random tests. `npm test` does a part of each sweep, with new inputs each time:
 * enough to notice what breaks often. `npm run sweeps`, a step of `npm run check`, does all of it.
 */

export interface Sweep {
  /** The number of random inputs in `npm run sweeps`. */
  readonly long: number;
  /** The number of them in `npm test`. */
  readonly short: number;
  /** An environment variable that sets another number. Default none. */
  readonly variable?: string;
}

/** Whether this process does whole sweeps. */
export const isLong: boolean = process.env.BOWLINE_SWEEPS === "long";

/** Returns the number of random inputs. */
export function sweep({ long, short, variable }: Sweep): number {
  const chosen = variable === undefined ? undefined : process.env[variable];
  return chosen === undefined ? (isLong ? long : short) : Number(chosen);
}

/** Returns the seed of a whole sweep. A part of it has a new seed each time, which fast-check prints. */
export function sweepSeed(seed: number): { readonly seed?: number } {
  return isLong ? { seed } : {};
}
