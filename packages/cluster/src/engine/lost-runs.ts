/**
 * Runs that Restate does not know any more: an operator killed the invocation, or Restate's data were
 * lost. The session has them as running, and nothing else ends them until its next message.
 */
import type { RestateAdmin } from "@bowline/restate";
import type { NewsDesk } from "./news.ts";
import { openRuns } from "./open-runs.ts";
import type { GatewayParts } from "./parts.ts";

/** How long an aborted run may take to end before Restate is asked whether it has it, in milliseconds. */
export const LOST_MS = 2000;

type Parts = Pick<GatewayParts, "store" | "admin" | "news">;

export interface LostParts {
  readonly admin: Pick<RestateAdmin, "endLostRun"> | undefined;
  readonly news: Pick<NewsDesk, "over" | "changed">;
}

/** Ends the running run of a session if Restate does not have it. Resolves with its id. */
export async function endLostRun(
  { admin, news }: LostParts,
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
