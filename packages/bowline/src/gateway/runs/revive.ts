/** What a session's log says of a run that this process did not do. */
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
 * How far back is looked for a run, but for the last: it is asked for by who lost the connection a
 * moment ago.
 */
const MAX_ENTRIES = 2000;
/**
 * A process that goes on with a run counts from so many behind its last entry: two are beyond all
 * that it gave out.
 */
const SEQ_PER_ENTRY = 1_000_000;

/** How a run ends that nobody and nothing stopped. */
const byItself: ReadonlySet<string> = new Set(["done", "length", "budget"]);

const interrupted: ErrorInfo = {
  code: "aborted",
  message: "The run was interrupted.",
  retryable: false,
};

/**
 * The run with its end, as one that was just done; undefined when its session's last entries have
 * none of this id.
 */
export function reviveRun(
  host: Host,
  runId: string,
  sessionKey: string,
  entries: readonly AnyEntry[],
): RunLog | undefined {
  const log = createRunLog({ ...host, publish: () => {} }, runId, sessionKey);
  const at = entries.findLastIndex(
    (entry) => isStartOrEnd(entry) && (entry as { runId?: unknown }).runId === runId,
  );
  const last = entries[at];
  // Of one that has ended the numbers stay, whatever comes after: who has the last is told nothing
  // twice.
  const own = takeUp(host, log, last?.type === "run_end" ? entries.slice(0, at + 1) : entries);
  if (own === undefined) return undefined;
  if (last?.type === "run_end") endRun(log, last as AnyEntry & RunEnd, interrupted, host.filter);
  else log.state = "interrupted";
  return log;
}

/** The run into which a message went that came under this key. */
export function runWith(messageId: string, entries: readonly AnyEntry[]): string | undefined {
  const isIt = (entry: AnyEntry): boolean =>
    isKnownEntry(entry) &&
    entry.type === "message" &&
    (entry.message as { messageId?: unknown }).messageId === messageId;
  return (entries.findLast(isIt) as { runId?: string } | undefined)?.runId;
}

/**
 * Gives the log what its session has of the run, under numbers beyond those that clients have seen.
 * Gives the run's entries; undefined when there are none.
 */
export function takeUp(
  { filter }: Host,
  log: RunLog,
  entries: readonly AnyEntry[],
): AnyEntry[] | undefined {
  const own = entries.filter((entry) => (entry as { runId?: unknown }).runId === log.runId);
  if (!own.some(({ type }) => type === "run_start")) return undefined;
  const messages = own.flatMap((entry) =>
    isKnownEntry(entry) && entry.type === "message" ? [entry.message] : [],
  );
  log.continueFrom(((entries.at(-1)?.seq ?? 0) + 2) * SEQ_PER_ENTRY, blocksOf(messages, filter));
  return own;
}

/**
 * A run of which only the start was kept is ended and begins once more under its id: what comes
 * last, counts.
 */
function isStartOrEnd({ type }: AnyEntry): boolean {
  return type === "run_start" || type === "run_end";
}

/** Whether a transcript has a message. */
export function isIn(entries: readonly AnyEntry[], { message }: Incoming): boolean {
  const own = sameness(message);
  return entries.some(
    (entry) => isKnownEntry(entry) && entry.type === "message" && sameness(entry.message) === own,
  );
}

/**
 * What became of a message that was accepted: it is not in the transcript; it is, in a run that is
 * open; it is, or its run is over; or the run that it was for has ended without it and not by
 * itself, so that it waits for the next.
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
    // A run that another followed is over, whatever it says.
    const last = entries.findLast(
      (entry) => entry.type === "run_start" && entry.parentRunId === undefined,
    );
    // Its own, behind what was held: without that it begins once more.
    const isThere = entries.some(
      (entry) => entry.type === "message" && entry.runId === id && sameness(entry.message) === own,
    );
    const reason = mark.type === "run_end" ? mark.reason : undefined;
    // Its run failed before the transcript had it, as on a full disk: that is no end of it. Nor is
    // what a run says that begins once more.
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
 * Of a session, oldest first, its last run whole; none when there is no such session. Rejects as
 * the store does when it cannot be read.
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
