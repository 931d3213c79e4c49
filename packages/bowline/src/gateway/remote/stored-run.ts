/** Rebuilds a run from the stored session, for clients that no worker can answer. */
import type { AnyEntry, SessionModel, Store } from "@bowline/core/session";
import type { RunFrame } from "../engine/engine.ts";
import type { GatewayLimits } from "../protocol/limits.ts";
import type { RunInfo } from "../protocol/protocol.ts";
import { createRunLog } from "../runs/create-run-log.ts";
import { byItself, lastEntries, rebuild } from "../runs/revive.ts";
import { isMissing } from "../../is-missing.ts";
import type { SecretFilter } from "../../secrets.ts";

/**
 * The number of a stored run's last event, beyond those of all attempts. It is the same on every
 * gateway and at any time, so that a client that has it is up to date.
 */
export const END_SEQ = 900_000_000_000_000;

/** How many entries are searched for a run's start or end. */
const MAX_SEARCHED = 10_000;

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

/**
 * Returns the run that was started last and has not ended. Undefined without one, and for a session
 * that does not exist.
 */
export async function findOpenRun(store: Store, sessionKey: string): Promise<string | undefined> {
  const ended = new Set<string | undefined>();
  const last = await lastOf(store, sessionKey, (entry) => {
    if (entry.type === "run_end") ended.add(runOf(entry));
    return isStart(entry);
  });
  return last === undefined || ended.has(runOf(last)) ? undefined : runOf(last);
}

/** The end of a run in the stored session. */
export interface StoredEnd {
  /** The number of its entry. */
  readonly seq: number;
  readonly state: "final" | "error" | "aborted";
}

/** Returns the run's end in the stored session. Undefined while it has none. */
export async function findRunEnd(
  store: Store,
  sessionKey: string,
  runId: string,
): Promise<StoredEnd | undefined> {
  const own = (entry: AnyEntry): boolean =>
    runOf(entry) === runId && (entry.type === "run_end" || entry.type === "run_start");
  const last = await lastOf(store, sessionKey, own);
  if (last?.type !== "run_end") return undefined;
  const { reason } = last as AnyEntry & { readonly reason: string };
  if (byItself.has(reason)) return { seq: last.seq, state: "final" };
  return { seq: last.seq, state: reason === "aborted" ? "aborted" : "error" };
}

/** Returns the `seq` of the last entry of a stored session; -1 without one. */
export async function findLastSeq(store: Store, sessionKey: string): Promise<number> {
  return (await lastOf(store, sessionKey, () => true))?.seq ?? -1;
}

/** Returns the model that the session's last run began with, if it is this run. */
export async function findRunModel(
  store: Store,
  sessionKey: string,
  runId: string,
): Promise<SessionModel | undefined> {
  const start = await lastOf(store, sessionKey, isStart);
  if (start === undefined || runOf(start) !== runId) return undefined;
  return (start as AnyEntry & { readonly model?: SessionModel }).model;
}

export interface StoredSession {
  /** Returns undefined if the end of the stored session has no such run. */
  run(runId: string): StoredRun | undefined;
}

/** Reads the end of a session: its last run, and earlier ones as far as 2,000 entries go. */
export async function readStoredSession(
  options: StoredRunOptions,
  sessionKey: string,
): Promise<StoredSession> {
  const entries = await lastEntries(options.store, sessionKey);
  return {
    run: (runId) => storedRun(options, { runId, sessionKey }, entries),
  };
}

function storedRun(
  { filter, limits }: StoredRunOptions,
  { runId, sessionKey }: { readonly runId: string; readonly sessionKey: string },
  entries: readonly AnyEntry[],
): StoredRun | undefined {
  const log = createRunLog({ runId, sessionKey, limits });
  const isOver = entries.some((entry) => entry.type === "run_end" && runOf(entry) === runId);
  // An open run has a number below all those of its attempts.
  const run = rebuild({ filter }, log, entries, () => (isOver ? END_SEQ : 0));
  if (run?.state === "interrupted") run.state = "running";
  return run;
}

function isStart(entry: AnyEntry): boolean {
  const { parentRunId } = entry as { readonly parentRunId?: string };
  return entry.type === "run_start" && parentRunId === undefined;
}

async function lastOf(
  store: Store,
  sessionKey: string,
  isIt: (entry: AnyEntry) => boolean,
): Promise<AnyEntry | undefined> {
  let searched = 0;
  try {
    for await (const batch of store.read(sessionKey, { reverse: true, files: false })) {
      const found = batch.find(isIt);
      if (found !== undefined) return found;
      searched += batch.length;
      if (searched >= MAX_SEARCHED) return undefined;
    }
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  return undefined;
}

function runOf(entry: AnyEntry): string | undefined {
  return (entry as { readonly runId?: string }).runId;
}
