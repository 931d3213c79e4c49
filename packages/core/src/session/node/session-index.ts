/**
 * What lists of sessions show, kept in one file beside the sessions. Only a cache: it is checked
 * against each file's size and time, carried on from where it had read to, and built anew when it
 * is missing, damaged or of another version.
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
/** Files that are read together. */
const AT_ONCE = 16;

interface Indexed {
  /** The file's, when it was last read. */
  readonly size: number;
  readonly mtimeMs: number;
  /** To where it was read, and the `seq` that comes next there. */
  readonly end: number;
  readonly nextSeq: number;
  readonly summary: SessionSummary;
}

type Index = ReadonlyMap<string, Indexed>;

/** The summaries of all sessions in the folder. Reads what was appended since the last time. */
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
    const known = (this.#known ??= indexIn(bytes)); // while the system looks
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
      if (header === undefined) return undefined; // of a newer version: to open it says so
      const empty = { size, mtimeMs, end: 0, nextSeq: 0, summary: summaryOf(header) };
      const isSame =
        before?.summary.id === header.id && before.summary.createdAt === header.createdAt;
      const carried = isSame ? await carryOn(file, { ...before, size, mtimeMs }) : undefined;
      const now = carried ?? (await carryOn(file, empty)) ?? empty;
      // With neither a header nor an entry it is no session's file.
      return isForeign && now.summary.entryCount === 0 ? undefined : now;
    });
    return ifThere(read); // it may be deleted meanwhile
  }

  /**
   * Whole or not at all; the last of several wins. In a folder that cannot be written, lists are
   * slower.
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

/** Empty when there is none, or a damaged one, or one of another version: all is read anew. */
function indexIn(bytes: Buffer = Buffer.alloc(0)): Index {
  const index = asRecord(decodeRecord(bytes.subarray(0, -1)));
  if (index.version !== VERSION) return new Map();
  return new Map(Object.entries(index.sessions as Record<string, Indexed>));
}

/**
 * Undefined for those that are not there. By callbacks, which cost half of what a promise for each
 * does.
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

/** Undefined when what follows does not go on from there. */
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
