/** Errors of the command that are shown to a person as one line. */
import { isBowlineError, type ErrorCode } from "@bowline/core";
import { oneLine } from "./terminal.ts";

/** The command was called with wrong arguments. Shown as one line; exit code 2. */
export class UsageError extends Error {
  override readonly name: string = "UsageError";
}

/** The command cannot continue. Shown as one line; exit code 1. */
export class CommandError extends Error {
  override readonly name: string = "CommandError";
}

const ofStores: readonly ErrorCode[] = [
  "connection_failed",
  "session_locked",
  "storage_failed",
  "not_found",
  "invalid_argument",
  "invalid_state",
];

/** Rethrows errors of stores and servers as `CommandError`. Other errors pass unchanged. */
export async function explained<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isBowlineError(error) || !ofStores.includes(error.code)) throw error;
    throw new CommandError(oneLine(error.message, 1000), { cause: error });
  }
}
