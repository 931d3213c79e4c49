/** The entries that end in a fork what goes on in the original session. */
import type { EntryBody } from "./entry.ts";
import type { SessionState } from "./session-state.ts";

/**
 * Returns entries that empty the queues and end the unfinished run. The answer that was streaming
 * stays, as far as its text was saved.
 */
export function forkEnds({ run, queued = [] }: SessionState): EntryBody[] {
  const ends: EntryBody[] = [...new Set(queued.map(({ queue }) => queue))].map((queue) => ({
    type: "queue_clear",
    queue,
  }));
  if (run === undefined || run.reason !== undefined) return ends;
  const { runId, partialAnswer } = run;
  if (partialAnswer !== undefined) {
    const errorMessage = "The answer was not complete when the session was forked.";
    ends.push({ type: "message", runId, message: { ...partialAnswer, errorMessage } });
  }
  return [...ends, { type: "run_end", runId, reason: "interrupted" }];
}
