/**
 * Stores sessions as JSONL files in one folder. `<name>.jsonl` is a log: a header line, then one
 * line per entry. `<name>.files` holds the large files of its messages, named by their SHA-256.
 * `<name>.damaged-<n>` holds bytes that a repair cut off. `locks` has one file per
 * writer. `sessions.index` is a cache for lists and can be deleted. Files are accessible only to
 * their owner.
 */
import { resolve } from "node:path";
import { systemClock, type Clock } from "../../clock.ts";
import type { BowlineError } from "../../errors.ts";
import type { AnyEntry } from "../entry.ts";
import { checkSequence, sessionNotFound, type ReadOptions, type Store } from "../store.ts";
import { pageOf } from "../summary.ts";
import { withFile } from "./file.ts";
import { FileReader } from "./file-folder.ts";
import { followLog } from "./follow-log.ts";
import { readEntries, readHeader, withLog, type LogFile } from "./read-log.ts";
import { nameOf, SessionFolder } from "./session-folder.ts";
import { SessionIndex } from "./session-index.ts";
import { storageError, systemCode } from "./storage-error.ts";
import type { SyncPolicy } from "./write-log.ts";

export interface JsonlStoreOptions {
  /** When an append waits until data is on the disk. Default `commit`. */
  readonly sync?: SyncPolicy | undefined;
  /** Default: the system's clock. */
  readonly clock?: Clock | undefined;
  /**
   * Polling interval of followers, in milliseconds. Usually the system reports changes sooner.
   * Default 500.
   */
  readonly pollMs?: number | undefined;
}

const DEFAULT_POLL_MS = 500;

/** Creates a store of files in `folder`. The folder is created with the first session. */
export function createJsonlStore(folder: string, options: JsonlStoreOptions = {}): Store {
  const { sync = "commit", clock = systemClock, pollMs = DEFAULT_POLL_MS } = options;
  const root = resolve(folder);
  const files = new SessionFolder(root, sync, clock);
  const index = new SessionIndex(root);
  const reader = new FileReader();

  return {
    async create(header, entries = []) {
      const path = files.pathOf(header.id);
      checkSequence(entries, 0);
      return guard(`Creating ${path}`, "", () => files.create(header, entries));
    },
    open: async (id) => guard(`Opening ${nameOf(id)}`, id, () => files.open(id)),
    load: async (id) =>
      guard(`Reading ${nameOf(id)}`, id, () => {
        const path = files.pathOf(id);
        return withFile(path, "r", async (handle) => {
          const { size } = await handle.stat();
          return readHeader({ handle, path }, { id, size });
        });
      }),
    read: (id, read) => guarded(id, read, (file) => readEntries(file, read)),
    follow: (id, follow) =>
      guarded(id, follow, (file) => followLog(file, { ...follow, clock, pollMs })),
    list: (list) => guard(`Reading ${root}`, "", async () => pageOf(await index.summaries(), list)),
    delete: async (id) => guard(`Deleting ${nameOf(id)}`, id, () => files.delete(id)),
    holder: async (id) => guard(`Reading ${files.locks}`, "", () => files.holder(id)),
  };

  async function* guarded(
    id: string,
    { files: withFiles = true, onDamage }: Pick<ReadOptions, "files" | "onDamage"> = {},
    read: (file: LogFile) => AsyncIterable<readonly AnyEntry[]>,
  ): AsyncGenerator<readonly AnyEntry[]> {
    const path = files.pathOf(id);
    const entries = withLog(path, read);
    try {
      yield* withFiles ? reader.restore(entries, files.filesOf(id), onDamage) : entries;
    } catch (error) {
      throw toError(error, `Reading ${path}`, id);
    }
  }
}

async function guard<T>(doing: string, id: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toError(error, doing, id);
  }
}

function toError(error: unknown, doing: string, id: string): BowlineError {
  return systemCode(error) === "ENOENT" && id !== ""
    ? sessionNotFound(id)
    : storageError(error, doing);
}
