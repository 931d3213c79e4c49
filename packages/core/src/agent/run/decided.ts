/** Verdicts of user code that an engine records, so that a replayed run takes the same path. */
import { BowlineError, toBowlineError, toErrorInfo, type ErrorInfo } from "../../errors.ts";
import type { Effects } from "../contract/effects.ts";

/** The JSON-safe form of a verdict. */
export type Verdict<T> = { readonly value?: T } | { readonly error: ErrorInfo };

/**
 * Resolves with the recorded verdict, or with that of `fn`. Rejects with the recorded error, or with
 * that of `fn`. Without `effects.decide`, calls `fn`.
 */
export async function decided<T>(
  effects: Pick<Effects, "decide">,
  name: string,
  fn: () => Promise<T>,
): Promise<T> {
  if (effects.decide === undefined) return fn();
  let own: Promise<T> | undefined;
  const verdict = await effects.decide<Verdict<T>>(name, () => {
    own = fn();
    return own.then(
      (value) => ({ value }),
      (error: unknown) => ({ error: toErrorInfo(toBowlineError(error, "hook_failed")) }),
    );
  });
  // A verdict of this process has parts that JSON cannot represent, such as the cause of an error.
  if (own !== undefined) return own;
  if ("error" in verdict) {
    const { error } = verdict;
    throw new BowlineError(error.code, error.message, error);
  }
  return verdict.value as T;
}
