/** Effects in the memory of this process, which record nothing. */
import { onAbort, systemClock, type Clock } from "../../clock.ts";
import { BowlineError } from "../../errors.ts";
import { waitOptions, type Effects, type WaitOptions } from "./effects.ts";

/** Effects in the memory of this process. */
export interface MemoryEffects extends Effects {
  readonly approvedTools: Set<string>;
  /** A signal alone may be given instead of options. */
  waitFor<T>(name: string, options?: WaitOptions | AbortSignal): Promise<T>;
  /**
   * Resolves all pending {@link Effects.waitFor} calls of this name with `value`. Returns false
   * when there are none.
   */
  answer(name: string, value: unknown): boolean;
}

/**
 * Creates effects in memory. The methods of `ports`, a plain object, replace the default ones.
 * `clock` returns the clock for the ends of waits; default: the system's clock.
 */
export function createMemoryEffects(
  ports?: Partial<Effects>,
  clock: () => Clock = () => systemClock,
): MemoryEffects {
  /** Pending waits and their names. */
  const waiting = new Map<(value: unknown) => void, string>();
  return {
    step: (_name, fn) => fn(),
    approvedTools: new Set(),
    waitFor: <T>(name: string, options?: WaitOptions | AbortSignal) =>
      new Promise<T>((resolve, reject) => {
        const { signal, until } = waitOptions(options);
        const releases: (() => void)[] = [];
        const leave = (): void => {
          waiting.delete(settle);
          for (const release of releases) release();
        };
        const settle = (value: unknown): void => {
          leave();
          resolve(value as T);
        };
        const fail = (code: "aborted" | "timeout", text: string): void => {
          leave();
          reject(new BowlineError(code, text));
        };
        waiting.set(settle, name);
        if (until !== undefined) {
          const late = (): void => fail("timeout", "There was no answer in time.");
          releases.push(clock().setTimer(until - clock().now(), late));
        }
        releases.push(onAbort(signal, () => fail("aborted", "The wait was aborted.")));
      }),
    answer(name, value) {
      const found = [...waiting].filter(([, under]) => under === name);
      for (const [settle] of found) settle(value);
      return found.length > 0;
    },
    inbox: () => [],
    publish: () => {},
    ...ports,
  };
}
