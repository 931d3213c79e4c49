/**
 * Stores sessions in the memory of this process, for tests, pages and workers. Entries are stored
 * as JSON, as in a file. Large files of messages are kept apart, each once for a session.
 */
import { onAbort, systemClock, type Clock } from "../clock.ts";
import { BowlineError } from "../errors.ts";
import type { AnyEntry, SessionHeader } from "./entry.ts";
import {
  checkSequence,
  checkSessionId,
  sessionExists,
  sessionLocked,
  sessionNotFound,
  toJson,
  type FollowOptions,
  type ReadOptions,
  type SessionSummary,
  type SessionWriter,
  type Store,
} from "./store.ts";
import { putBackFiles, takeOutFiles, type StoredFile } from "./stored-files.ts";
import { addToSummary, pageOf, summaryOf } from "./summary.ts";

const BATCH = 256;

interface Log {
  readonly header: SessionHeader;
  readonly lines: string[];
  /** The large files of the lines in base64, by their position. */
  readonly files: string[];
  readonly positions: Map<string, number>;
  /** Called after an append and when the log is deleted. */
  readonly waiting: Set<() => void>;
  summary: SessionSummary;
  /**
   * When it was opened for writing, in milliseconds since the epoch; undefined when it has no
   * writer.
   */
  heldSince: number | undefined;
  isDeleted: boolean;
}

/**
 * Creates a store in memory. `clock` sets the time of {@link Store.holder}. Default: the system's.
 */
export function createMemoryStore({ clock = systemClock }: { readonly clock?: Clock } = {}): Store {
  const logs = new Map<string, Log>();

  return {
    async create(header, entries = []) {
      checkSessionId(header.id);
      if (logs.has(header.id)) throw sessionExists(header.id);
      const copy = JSON.parse(toJson(header)) as SessionHeader;
      const summary = summaryOf(copy);
      const log: Log = {
        header: copy,
        lines: [],
        files: [],
        positions: new Map(),
        waiting: new Set(),
        summary,
        heldSince: undefined,
        isDeleted: false,
      };
      add(log, entries);
      logs.set(header.id, log);
      return hold(log, clock);
    },
    open: async (id) => hold(find(id), clock),
    load: async (id) => find(id).header,
    async *read(id, options) {
      const log = find(id);
      yield* readNow(log, options);
    },
    async *follow(id, options) {
      const log = find(id);
      yield* followLog(log, options);
    },
    list: async (options) =>
      pageOf(
        [...logs.values()].map(({ summary }) => summary),
        options,
      ),
    async delete(id) {
      const log = find(id);
      if (log.heldSince !== undefined) throw sessionLocked(id, "this process");
      logs.delete(id);
      log.isDeleted = true;
      wake(log);
    },
    async holder(id) {
      checkSessionId(id);
      const since = logs.get(id)?.heldSince;
      return since === undefined ? undefined : { isThisProcess: true, since };
    },
  };

  function find(id: string): Log {
    checkSessionId(id);
    const log = logs.get(id);
    if (log === undefined) throw sessionNotFound(id);
    return log;
  }
}

function hold(log: Log, clock: Clock): SessionWriter {
  if (log.heldSince !== undefined) throw sessionLocked(log.header.id, "this process");
  log.heldSince = clock.now();
  let isClosed = false;
  return {
    header: log.header,
    damage: [],
    get last() {
      const line = log.lines.at(-1);
      return line === undefined ? undefined : parse(log, line);
    },
    get nextSeq() {
      return log.lines.length;
    },
    async append(entries) {
      if (isClosed) throw new BowlineError("invalid_state", "The session is closed.");
      add(log, entries);
    },
    async close() {
      if (!isClosed) log.heldSince = undefined;
      isClosed = true;
    },
  };
}

function add(log: Log, entries: readonly AnyEntry[]): void {
  checkSequence(entries, log.lines.length);
  // Serialise all first, so that all or none are added.
  const lines = entries.map((entry) => toJson(takeOutFiles(entry, (data) => keep(log, data))));
  // Not a spread, because a fork may have too many entries for call arguments.
  for (const line of lines) log.lines.push(line);
  log.summary = entries.reduce(addToSummary, log.summary);
  wake(log);
}

function keep({ files, positions }: Log, data: string): StoredFile {
  const position = positions.get(data) ?? files.push(data) - 1;
  positions.set(data, position);
  const padding = data.endsWith("==") ? 2 : Number(data.endsWith("="));
  return { storedFile: String(position), bytes: (data.length * 3) / 4 - padding };
}

function wake({ waiting }: Log): void {
  for (const go of waiting) go();
}

function* readNow(
  log: Log,
  { from, reverse = false, files = true }: ReadOptions = {},
): Generator<AnyEntry[]> {
  const { lines } = log;
  // Entries appended during the read are not included.
  const [begin, end] = reverse
    ? [0, Math.min(lines.length, (from ?? Infinity) + 1)]
    : [from ?? 0, lines.length];
  const chosen = lines.slice(begin, end);
  if (reverse) chosen.reverse();
  while (chosen.length > 0) yield chosen.splice(0, BATCH).map((line) => parse(log, line, files));
}

async function* followLog(
  log: Log,
  { from = 0, files, signal }: FollowOptions = {},
): AsyncGenerator<AnyEntry[]> {
  let next = from;
  for (;;) {
    for (const batch of readNow(log, { from: next, files })) {
      if (signal?.aborted === true) return;
      next += batch.length;
      yield batch;
    }
    if (log.isDeleted || signal?.aborted === true) return;
    if (log.lines.length <= next) await change(log, signal);
  }
}

function change({ waiting }: Log, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const go = (): void => {
      waiting.delete(go);
      release();
      resolve();
    };
    waiting.add(go);
    const release = onAbort(signal, go);
  });
}

function parse({ files }: Log, line: string, withFiles = true): AnyEntry {
  const entry = JSON.parse(line) as AnyEntry;
  return withFiles ? putBackFiles(entry, ({ storedFile }) => files[Number(storedFile)]) : entry;
}
