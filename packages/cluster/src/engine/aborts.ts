/** Aborts runs: those that wait in PostgreSQL, and those that are going on through Restate. */
import type { OpenRun } from "@bowline/postgres";
import { isBowlineError } from "@bowline/core";
import { GatewayError } from "bowline/engine";
import { endLostRun, LOST_MS } from "./lost-runs.ts";
import { openRuns } from "./open-runs.ts";
import type { GatewayParts } from "./parts.ts";

/** How long to look for a run that is about to begin or to end, in milliseconds. */
const FIND_MS = 3000;
const PAUSE_MS = 50;
/** How long to wait for the end of aborted runs, in milliseconds. */
const QUIET_MS = 20_000;

type Parts = Pick<GatewayParts, "store" | "restate" | "admin" | "news" | "clock" | "report">;

/**
 * Aborts the open runs of a session, or one of them. Resolves with their ids when the aborts are
 * stored. Rejects with `busy` if Restate does not take an abort.
 */
export async function abortRuns(
  parts: Parts,
  sessionKey: string,
  runId?: string,
): Promise<readonly string[]> {
  const aborted = new Set<string>();
  const end = parts.clock.now() + FIND_MS;
  for (;;) {
    const open = (await openRuns(parts, sessionKey)).filter(
      (run) => (runId === undefined || run.runId === runId) && !aborted.has(run.runId),
    );
    if (open.length === 0) return [...aborted];
    for (const id of await abortOnce(parts, sessionKey, open)) aborted.add(id);
    if (open.every((run) => aborted.has(run.runId))) return [...aborted];
    // A run between its two states: its message is taken, and Restate does not have it as running.
    if (parts.clock.now() >= end) {
      const lost = await tryEndLostRun(parts, sessionKey);
      if (lost !== undefined) return [...aborted, lost];
      throw new GatewayError("busy", "The run could not be aborted now. Try again.", {
        retryable: true,
      });
    }
    await pause(parts);
  }
}

/**
 * Ends everything of a session: its runs and its waiting messages. Resolves when nothing is going on.
 * Rejects with `busy` if a run does not end in time.
 */
export async function quiet(parts: Parts, sessionKey: string): Promise<void> {
  const begun = parts.clock.now();
  let hasAsked = false;
  for (;;) {
    const cancelled = await parts.store.durable.cancel(sessionKey);
    for (const { runId } of cancelled) if (runId !== undefined) parts.news.over(sessionKey, runId);
    if ((await openRuns(parts, sessionKey)).length === 0) return;
    const ms = parts.clock.now() - begun;
    if (ms >= LOST_MS && !hasAsked) {
      hasAsked = true;
      await tryEndLostRun(parts, sessionKey);
    }
    if (ms >= QUIET_MS)
      throw new GatewayError("busy", "A run of the session has not ended yet. Try again.", {
        retryable: true,
      });
    await abortRuns(parts, sessionKey);
    await pause(parts);
  }
}

/** As {@link endLostRun}. Restate's tables may not answer for a while after it lost a node. */
function tryEndLostRun(parts: Parts, sessionKey: string): Promise<string | undefined> {
  return endLostRun(parts, sessionKey).catch((error) => {
    parts.report(error);
    return undefined;
  });
}

/** Returns the ids of the runs whose abort is stored. */
async function abortOnce(
  parts: Parts,
  sessionKey: string,
  open: readonly OpenRun[],
): Promise<readonly string[]> {
  const { store, news } = parts;
  const queued = open.filter(({ state }) => state === "queued").map(({ runId }) => runId);
  const done: string[] = [];
  if (queued.length > 0)
    // The id of a message that begins a run is that of its run.
    for (const { runId } of await store.durable.cancel(sessionKey, queued))
      if (runId !== undefined) {
        done.push(runId);
        news.over(sessionKey, runId);
      }
  for (const { runId, state } of open)
    if (state === "running" && (await abortRunning(parts, sessionKey, runId))) done.push(runId);
  return done;
}

async function abortRunning(
  { restate }: Parts,
  sessionKey: string,
  runId: string,
): Promise<boolean> {
  try {
    return await restate.abort(sessionKey, { runId });
  } catch (error) {
    if (!isBowlineError(error) || !error.retryable) throw error;
    throw new GatewayError(
      "busy",
      "The run could not be aborted in time. It may still be. Try again.",
      {
        retryable: true,
      },
    );
  }
}

async function pause({ clock }: Parts): Promise<void> {
  await new Promise<void>((resolve) => void clock.setTimer(PAUSE_MS, resolve));
}
