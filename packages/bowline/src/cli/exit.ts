/** How the command ends. The codes are documented in its help. */

export const exitCode = { done: 0, failed: 1, usage: 2, budget: 3, aborted: 130 } as const;

/** The command was called wrongly: one line, exit code 2. */
export class UsageError extends Error {
  override readonly name: string = "UsageError";
}

/** The command cannot go on: one line, exit code 1. */
export class CommandError extends Error {
  override readonly name: string = "CommandError";
}
