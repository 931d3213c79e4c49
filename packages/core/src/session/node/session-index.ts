/**
 * A cache of session summaries for lists, in one file next to the sessions. It is checked against
 * each file's size and time, and updated with the entries appended since. It is rebuilt when it is
 * missing, damaged or of another version.
 */
import { stat, type Stats } from "node:fs";
import { readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { randomId } from "../../clock.ts";
import { asRecord } from "../../json-value.ts";
import type { SessionSummary } from "../store.ts";
import { addToSummary, summaryOf } from "../summary.ts";
import { fromFileName } from "./file-name.ts";
import { withFile } from "./file.ts";
import { entriesForward, readHeader, type LogFile } from "./read-log.ts";
import { decodeRecord, encodeRecord } from "./record.ts";
import { ifThere } from "./storage-error.ts";

export const EXTENSION = ".jsonl";
const INDEX = "sessions.index";
const VERSION = 2;
/** Number of files read concurrently. */
const AT_ONCE = 16;

interface Indexed {
  /** Size and time of the file when it was last read. */
  readonly size: number;
  readonly mtimeMs: number;
  /** The position read so far, and the next `seq` there. */
  readonly end: number;
  readonly nextSeq: number;
  readonly summary: SessionSummary;
}

type Index = ReadonlyMap<string, Indexed>;

/**
 * Returns the summaries of all sessions in the folder. Reads only the entries appended since the
 * last call.
 */
export class SessionIndex {
  readonly #folder: string;
  #known: Index | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async summaries(): Promise<SessionSummary[]> {
    const [all = [], bytes] = await Promise.all([
      ifThere(readdir(this.#folder)),
      this.#known === undefined
        ? readFile(join(this.#folder, INDEX)).catch(() => undefined)
        : undefined,
    ]);
    const names = all.filter((name) => name.endsWith(EXTENSION));
    const looking = statAll(names.map((name) => `${this.#folder}/${name}`));
    const known = (this.#known ??= indexIn(bytes)); // parsed while stat runs
    const stats = await looking;
    const current = new Map<string, Indexed>();
    const changed: { readonly name: string; readonly file: Stats }[] = [];
    for (const [at, name] of names.entries()) {
      const before = known.get(name);
      const file = stats[at];
      if (before !== undefined && file?.size === before.size && file.mtimeMs === before.mtimeMs)
        current.set(name, before);
      else if (file !== undefined) changed.push({ name, file });
    }
    for (let at = 0; at < changed.length; at += AT_ONCE) {
      const some = changed.slice(at, at + AT_ONCE).map(async ({ name, file }) => {
        const now = await this.#read(name, known.get(name), file);
        if (now !== undefined) current.set(name, now);
      });
      await Promise.all(some);
    }
    this.#known = current;
    if (changed.length > 0 || current.size !== known.size) await this.#save(current);
    return [...current.values()].map(({ summary }) => summary);
  }

  async #read(
    name: string,
    before: Indexed | undefined,
    { size, mtimeMs }: Pick<Indexed, "size" | "mtimeMs">,
  ): Promise<Indexed | undefined> {
    const path = join(this.#folder, name);
    const read = withFile(path, "r", async (handle) => {
      const file = { handle, path };
      const id = fromFileName(name.slice(0, -EXTENSION.length)) ?? name;
      let isForeign = size === 0;
      const onDamage = (): void => void (isForeign = true);
      const header = await readHeader(file, { id, size, onDamage }).catch(() => undefined);
      if (header === undefined) return undefined; // a newer version; opening it reports that
      const empty = { size, mtimeMs, end: 0, nextSeq: 0, summary: summaryOf(header) };
      const isSame =
        before?.summary.id === header.id && before.summary.createdAt === header.createdAt;
      const carried = isSame ? await carryOn(file, { ...before, size, mtimeMs }) : undefined;
      const now = carried ?? (await carryOn(file, empty)) ?? empty;
      // A file without a header and entries is not a session.
      return isForeign && now.summary.entryCount === 0 ? undefined : now;
    });
    return ifThere(read); // the file may have been deleted
  }

  /**
   * Saves the index atomically. The last writer wins. Errors are ignored: in a read-only folder,
   * lists are only slower.
   */
  async #save(index: Index): Promise<void> {
    const temporary = join(this.#folder, `${INDEX}.${randomId()}`);
    try {
      const bytes = encodeRecord({ version: VERSION, sessions: Object.fromEntries(index) });
      await writeFile(temporary, bytes, { mode: 0o600, flag: "wx" });
      await rename(temporary, join(this.#folder, INDEX));
    } catch {
      await rm(temporary, { force: true }).catch(() => {});
    }
  }
}

/**
 * Decodes the index. Returns an empty one if it is missing, damaged or of another version; then all
 * files are read.
 */
function indexIn(bytes: Buffer = Buffer.alloc(0)): Index {
  const index = asRecord(decodeRecord(bytes.subarray(0, -1)));
  if (index.version !== VERSION) return new Map();
  return new Map(Object.entries(index.sessions as Record<string, Indexed>));
}

/**
 * Reads the stats of files, undefined for missing ones. Uses callbacks, which take half the time of
 * promises.
 */
function statAll(paths: readonly string[]): Promise<(Stats | undefined)[]> {
  return new Promise((resolve) => {
    const found: (Stats | undefined)[] = [];
    let left = paths.length;
    if (left === 0) resolve(found);
    for (const [at, path] of paths.entries()) {
      stat(path, (error, file) => {
        found[at] = error === null ? file : undefined;
        if (--left === 0) resolve(found);
      });
    }
  });
}

/**
 * Updates a summary with the entries appended since. Returns undefined if the file does not
 * continue from there.
 */
async function carryOn(file: LogFile, from: Indexed): Promise<Indexed | undefined> {
  let { end, nextSeq, summary } = from;
  if (from.size < end) return undefined;
  let isFirst = from.end > 0;
  for await (const batch of entriesForward(file, end, from.size)) {
    const [first] = batch.entries;
    if (isFirst && first !== undefined && first.seq !== nextSeq) return undefined;
    isFirst = false;
    summary = batch.entries.reduce(addToSummary, summary);
    end = batch.end;
    nextSeq = (batch.entries.at(-1)?.seq ?? nextSeq - 1) + 1;
  }
  return { ...from, end, nextSeq, summary };
}
