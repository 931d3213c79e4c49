/** Reads the state of an earlier process's runs from the session's log. */
import type { ErrorInfo } from "@bowline/core";
import { isKnownEntry, openSession, type AnyEntry, type Store } from "@bowline/core/session";
import { blocksOf } from "../log/blocks.ts";
import type { Host } from "./host.ts";
import { incomingOf, sameness, type Incoming } from "./incoming.ts";
import { isMissing } from "../../is-missing.ts";
import type { PendingMessage } from "./pending.ts";
import { createRunLog } from "./create-run-log.ts";
import { endRun, type RunEnd } from "../log/run-events.ts";
import type { RunLog } from "../log/run-log.ts";

/**
 * How many entries are searched for a run; the last run is always read whole. Clients ask for old
 * runs soon after a lost connection.
 */
const MAX_ENTRIES = 2000;
/**
 * Sequence numbers that each log entry stands for. A process that resumes a run starts two entries
 * ahead, beyond all numbers that were sent.
 */
const SEQ_PER_ENTRY = 1_000_000;

/** The reasons of runs that ended without being stopped. */
export const byItself: ReadonlySet<string> = new Set(["done", "length", "budget"]);

const interrupted: ErrorInfo = {
  code: "aborted",
  message: "The run was interrupted.",
  retryable: false,
};

/**
 * Rebuilds the log of a run, with its end. Returns undefined if the session's last entries contain
 * no run with this id.
 */
export function reviveRun(
  host: Host,
  runId: string,
  sessionKey: string,
  entries: readonly AnyEntry[],
): RunLog | undefined {
  const log = createRunLog({ runId, sessionKey, limits: host.limits });
  return rebuild(host, log, entries, firstSeq);
}

/** As {@link reviveRun}, into an empty log. `first` returns the number after the snapshot's. */
export function rebuild(
  host: Pick<Host, "filter">,
  log: RunLog,
  entries: readonly AnyEntry[],
  first: (entries: readonly AnyEntry[]) => number,
): RunLog | undefined {
  const { runId } = log;
  const at = entries.findLastIndex(
    (entry) => isStartOrEnd(entry) && (entry as { runId?: unknown }).runId === runId,
  );
  const last = entries[at];
  // Later entries must not change the numbers of an ended run. Otherwise a client that is up to
  // date would get its events twice.
  const own = takeUp(
    host,
    log,
    last?.type === "run_end" ? entries.slice(0, at + 1) : entries,
    first,
  );
  if (own === undefined) return undefined;
  if (last?.type === "run_end") endRun(log, last as AnyEntry & RunEnd, interrupted, host.filter);
  else log.state = "interrupted";
  return log;
}

/** Returns the id of the run that took the message with this key. */
export function runWith(messageId: string, entries: readonly AnyEntry[]): string | undefined {
  const isIt = (entry: AnyEntry): boolean =>
    isKnownEntry(entry) &&
    entry.type === "message" &&
    (entry.message as { messageId?: unknown }).messageId === messageId;
  return (entries.findLast(isIt) as { runId?: string } | undefined)?.runId;
}

/**
 * Fills the log with the run's blocks from the session, numbered beyond all numbers that clients
 * have seen. Returns the run's entries, or undefined if there are none.
 */
export function takeUp(
  { filter }: Pick<Host, "filter">,
  log: RunLog,
  entries: readonly AnyEntry[],
  first: (entries: readonly AnyEntry[]) => number = firstSeq,
): AnyEntry[] | undefined {
  const own = entries.filter((entry) => (entry as { runId?: unknown }).runId === log.runId);
  if (!own.some(({ type }) => type === "run_start")) return undefined;
  const messages = own.flatMap((entry) =>
    isKnownEntry(entry) && entry.type === "message" ? [entry.message] : [],
  );
  log.continueFrom(first(entries), blocksOf(messages, filter));
  return own;
}

function firstSeq(entries: readonly AnyEntry[]): number {
  return ((entries.at(-1)?.seq ?? 0) + 2) * SEQ_PER_ENTRY;
}

/**
 * A run with only its start stored is ended and begins again under the same id. So the last of
 * these entries decides.
 */
function isStartOrEnd({ type }: AnyEntry): boolean {
  return type === "run_start" || type === "run_end";
}

/** Whether the transcript contains the message. */
export function isIn(entries: readonly AnyEntry[], { message }: Incoming): boolean {
  const own = sameness(message);
  return entries.some(
    (entry) => isKnownEntry(entry) && entry.type === "message" && sameness(entry.message) === own,
  );
}

/**
 * Returns the state of an accepted message. `no`: it is not in the transcript. `open`: it is, and
 * its run has not ended. `done`: it is, or its run has ended. `held`: its run was stopped or failed
 * without it, so it waits for the next run.
 */
export function wasStarted(
  all: readonly AnyEntry[],
  message: PendingMessage,
): "no" | "open" | "done" | "held" {
  const { id, timestamp, kind } = message;
  const entries = all.filter(isKnownEntry);
  const incoming = incomingOf(message);
  const own = sameness(incoming.message);
  const mark = entries.findLast(
    (entry) => isStartOrEnd(entry) && "runId" in entry && entry.runId === id,
  );
  if (kind === "send" && mark !== undefined) {
    // A run that another run followed has ended, even without an end entry.
    const last = entries.findLast(
      (entry) => entry.type === "run_start" && entry.parentRunId === undefined,
    );
    // The run's message, which follows the held ones. Without it the run begins again.
    const isThere = entries.some(
      (entry) => entry.type === "message" && entry.runId === id && sameness(entry.message) === own,
    );
    const reason = mark.type === "run_end" ? mark.reason : undefined;
    // The run failed before the transcript had the message, as on a full disk, or was interrupted.
    // Neither end counts, since the run begins again.
    const isUnwritten =
      !isIn(entries, incoming) &&
      message.isAborted !== true &&
      (reason === undefined || reason === "interrupted" || reason === "error");
    if (last?.type === "run_start" && last.runId !== id) return isUnwritten ? "held" : "done";
    if (reason !== undefined && (isThere || !isUnwritten)) return "done";
    return isThere ? "open" : "no";
  }
  if (isIn(entries, incoming)) return "done";
  if (kind === "send") return "no";
  const last = entries.findLast(isStartOrEnd);
  const isStopped =
    last?.type === "run_end" && last.timestamp >= timestamp && !byItself.has(last.reason);
  return isStopped ? "held" : "no";
}

/**
 * Returns the last entries of a session, oldest first, including its whole last run. Returns none
 * if the session does not exist. Rejects as the store does.
 */
export async function lastEntries(store: Store, sessionKey: string): Promise<AnyEntry[]> {
  const entries: AnyEntry[] = [];
  try {
    const session = await openSession(store, sessionKey, { readOnly: true });
    let hasRun = false;
    for await (const entry of session.entries({ reverse: true })) {
      entries.push(entry);
      hasRun ||=
        isKnownEntry(entry) && entry.type === "run_start" && entry.parentRunId === undefined;
      if (hasRun && entries.length >= MAX_ENTRIES) break;
    }
  } catch (error) {
    if (!isMissing(error)) throw error;
    return [];
  }
  return entries.toReversed();
}
