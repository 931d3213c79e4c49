/** Nothing waits for ever, and nobody was refused what has to be allowed. */
import type { Evidence, Finding } from "../evidence.ts";

export function checkRest({ left, complaints }: Evidence): Finding[] {
  const { openRuns, waiting, invocations, failures } = left;
  return [
    ...complaints.map(({ session, client, text }) => ({ session, text: `${client}: ${text}` })),
    ...openRuns.map(({ session, runId }) => ({ session, text: `the run ${runId} is still open` })),
    ...waiting.map(({ session, id }) => ({ session, text: `the message ${id} still waits` })),
    ...invocations.map(({ session, text }) => ({
      session,
      text: `an invocation is left: ${text}`,
    })),
    ...failures.map((text) => ({ text })),
  ].map((finding) => ({ check: "rest", ...finding }));
}
