/** Converts errors of the file system to errors with a code. */
import { BowlineError, errorText, isBowlineError, toBowlineError } from "../../errors.ts";

const FULL = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);
const FORBIDDEN = new Set(["EACCES", "EPERM", "EROFS"]);
const PASSING = new Set(["EMFILE", "ENFILE", "EAGAIN", "EBUSY"]);

/**
 * Converts an error to `storage_failed` with the system's error as its cause. Returns a
 * `BowlineError` as is. An error without a system code becomes `internal_error`.
 */
export function storageError(thrown: unknown, doing: string): BowlineError {
  if (isBowlineError(thrown)) return thrown;
  const code = systemCode(thrown);
  if (code === undefined) return toBowlineError(thrown, "internal_error", doing);
  const why = FULL.has(code)
    ? `there is no space left (${code})`
    : FORBIDDEN.has(code)
      ? `permission is denied, or it is read-only (${code})`
      : errorText(thrown);
  const retryable = FULL.has(code) || PASSING.has(code);
  return new BowlineError("storage_failed", `${doing} failed: ${why}.`, {
    cause: thrown,
    retryable,
  });
}

/** Returns the system's error code, such as `ENOENT`. */
export function systemCode(thrown: unknown): string | undefined {
  const { code } = (thrown ?? {}) as { readonly code?: unknown };
  return typeof code === "string" ? code : undefined;
}

/** Resolves as `work` does, or with undefined when there is no such file. */
export async function ifThere<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw error;
  }
}
