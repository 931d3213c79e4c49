/** Exit codes of the command, documented in its help. */
export const exitCode = { done: 0, failed: 1, usage: 2, budget: 3, aborted: 130 } as const;
