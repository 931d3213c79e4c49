/**
 * Runs that Restate does not know any more: an operator killed the invocation, or Restate's data were
 * lost. The session has them as running, and nothing ends them until its next message.
 */
import { openRuns } from "./open-runs.ts";
import type { GatewayParts } from "./parts.ts";

/** How long an aborted run may take to end before Restate is asked whether it has it, in milliseconds. */
export const LOST_MS = 2000;

type Parts = Pick<GatewayParts, "store" | "admin" | "news">;

/** Ends the running run of a session if Restate does not have it. Resolves with its id. */
export async function endLostRun(
  { admin, news }: Pick<Parts, "admin" | "news">,
  sessionKey: string,
): Promise<string | undefined> {
  const runId = await admin?.endLostRun(sessionKey);
  if (runId === undefined) return undefined;
  news.over(sessionKey, runId);
  news.changed({ sessionKey, change: "updated" });
  return runId;
}

/** As {@link endLostRun}, after a while, if one of the runs still goes on. Errors are reported. */
export function endIfLost(
  parts: Parts & Pick<GatewayParts, "clock" | "report">,
  sessionKey: string,
  runIds: readonly string[],
): void {
  const check = async (): Promise<void> => {
    const open = await openRuns(parts, sessionKey);
    if (open.some(({ runId, state }) => state === "running" && runIds.includes(runId)))
      await endLostRun(parts, sessionKey);
  };
  parts.clock.setTimer(LOST_MS, () => void check().catch(parts.report));
}
