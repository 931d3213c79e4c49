/** Errors of the command that one line explains to a person. */
import { isBowlineError, type ErrorCode } from "@bowline/core";
import { oneLine } from "./terminal.ts";

/** The command was called wrongly: one line, exit code 2. */
export class UsageError extends Error {
  override readonly name: string = "UsageError";
}

/** The command cannot go on: one line, exit code 1. */
export class CommandError extends Error {
  override readonly name: string = "CommandError";
}

const ofSessions: readonly ErrorCode[] = [
  "session_locked",
  "storage_failed",
  "not_found",
  "invalid_argument",
  "invalid_state",
];

/** What sessions refuse becomes a `CommandError`; a defect stays what it is. */
export async function explained<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isBowlineError(error) || !ofSessions.includes(error.code)) throw error;
    throw new CommandError(oneLine(error.message, 1000), { cause: error });
  }
}
