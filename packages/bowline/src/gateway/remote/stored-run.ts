/** Rebuilds a run from the stored session, for clients that no worker can answer. */
import type { AnyEntry, Store } from "@bowline/core/session";
import type { RunFrame } from "../engine/engine.ts";
import { RunLog } from "../log/run-log.ts";
import type { GatewayLimits } from "../protocol/limits.ts";
import type { RunInfo } from "../protocol/protocol.ts";
import { lastEntries, rebuild } from "../runs/revive.ts";
import type { SecretFilter } from "../../secrets.ts";

/**
 * The number of a stored run's last event, beyond those of all attempts. It is the same on every
 * gateway and at any time, so that a client that has it is up to date.
 */
const END_SEQ = 900_000_000_000_000;

export interface StoredRunOptions {
  readonly store: Store;
  readonly filter: SecretFilter;
  readonly limits: Pick<GatewayLimits, "maxReplayEvents" | "maxReplayLength" | "maxBufferedBytes">;
}

export interface StoredRun {
  /** The state is `running` for a run without an end: an attempt may go on with it. */
  readonly info: RunInfo;
  /** Returns a snapshot, and the run's end if it has ended. Nothing if the client has the end. */
  since(seq: number | undefined): readonly RunFrame[];
}

export interface StoredSession {
  /** Returns undefined if the end of the stored session has no such run. */
  run(runId: string): StoredRun | undefined;
  /** The run that was started last and has not ended. */
  readonly openRun: string | undefined;
}

/** Reads the end of a session: its last run, and earlier ones as far as 2,000 entries go. */
export async function readStoredSession(
  options: StoredRunOptions,
  sessionKey: string,
): Promise<StoredSession> {
  const entries = await lastEntries(options.store, sessionKey);
  return {
    run: (runId) => storedRun(options, { runId, sessionKey }, entries),
    openRun: openRunIn(entries),
  };
}

function storedRun(
  { filter, limits }: StoredRunOptions,
  { runId, sessionKey }: { readonly runId: string; readonly sessionKey: string },
  entries: readonly AnyEntry[],
): StoredRun | undefined {
  const { maxReplayEvents: maxEvents, maxReplayLength: maxLength } = limits;
  const log = new RunLog({
    runId,
    sessionKey,
    maxEvents,
    maxLength,
    maxSnapshot: limits.maxBufferedBytes * 0.75,
    publish: () => {},
  });
  const isOver = entries.some((entry) => entry.type === "run_end" && runOf(entry) === runId);
  // An open run has a number below those of any attempt but the first one's beginning.
  const run = rebuild({ filter }, log, entries, () => (isOver ? END_SEQ : 1));
  if (run?.state === "interrupted") run.state = "running";
  return run;
}

function openRunIn(entries: readonly AnyEntry[]): string | undefined {
  const last = entries.findLast(
    (entry) =>
      entry.type === "run_end" ||
      (entry.type === "run_start" &&
        (entry as { parentRunId?: unknown }).parentRunId === undefined),
  );
  return last?.type === "run_start" ? runOf(last) : undefined;
}

function runOf(entry: AnyEntry): string | undefined {
  return (entry as { readonly runId?: string }).runId;
}
