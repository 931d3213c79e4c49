/**
 * Sessions as files: one JSONL file each, in one folder. `<name>.jsonl` is the log, a header line
 * and a line an entry; `<name>.damaged-<n>` keeps what a repair cut off; `locks` has a file for
 * each writer; `sessions.index` makes lists fast and can be deleted. Files are their owner's only.
 */
import { readdir, rm, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { systemClock, type Clock } from "../../clock.ts";
import type { BowlineError } from "../../errors.ts";
import {
  checkSequence,
  checkSessionId,
  sessionExists,
  sessionNotFound,
  type SessionWriter,
  type Store,
} from "../store.ts";
import { pageOf } from "../summary.ts";
import { createLog } from "./create-log.ts";
import { toFileName } from "./file-name.ts";
import { withFile } from "./file.ts";
import { followLog } from "./follow-log.ts";
import { holderOf, takeLock } from "./lock.ts";
import { openLog } from "./open-log.ts";
import { identifySelf, type ProcessIdentity } from "./process-identity.ts";
import { readEntries, readHeader, withLog } from "./read-log.ts";
import { EXTENSION, SessionIndex } from "./session-index.ts";
import { ifThere, storageError, systemCode } from "./storage-error.ts";
import type { SyncPolicy } from "./write-log.ts";

export interface JsonlStoreOptions {
  /** When an append waits for the disk. Default `commit`. */
  readonly sync?: SyncPolicy;
  readonly clock?: Clock;
  /**
   * How often a follower looks by itself, in milliseconds; usually the system tells it sooner.
   * Default 500.
   */
  readonly pollMs?: number;
}

const DEFAULT_POLL_MS = 500;
const LOCKS = "locks";

/** The folder is made when the first session is. */
export function createJsonlStore(folder: string, options: JsonlStoreOptions = {}): Store {
  const { sync = "commit", clock = systemClock, pollMs = DEFAULT_POLL_MS } = options;
  const root = resolve(folder);
  const index = new SessionIndex(root);
  let self: Promise<ProcessIdentity> | undefined;

  return {
    async create(header, entries = []) {
      const { id } = header;
      const path = pathOf(id);
      checkSequence(entries, 0);
      return guard(`Creating ${path}`, "", async () => {
        const release = await lock(id);
        try {
          if ((await ifThere(stat(path))) !== undefined) throw sessionExists(id);
          await createLog({ path, header, entries, mustSync: sync !== "never" });
          return await hold(id, async () => release);
        } catch (error) {
          await release();
          throw error;
        }
      });
    },
    open: async (id) => guard(`Opening ${nameOf(id)}`, id, () => hold(id, () => lock(id))),
    load: async (id) =>
      guard(`Reading ${nameOf(id)}`, id, () => {
        const path = pathOf(id);
        return withFile(path, "r", async (handle) => {
          const { size } = await handle.stat();
          return readHeader({ handle, path }, { id, size });
        });
      }),
    read: (id, read) => guarded(id, (path) => withLog(path, (file) => readEntries(file, read))),
    follow: (id, follow) =>
      guarded(id, (path) => withLog(path, (file) => followLog(file, { ...follow, clock, pollMs }))),
    list: (list) => guard(`Reading ${root}`, "", async () => pageOf(await index.summaries(), list)),
    delete: async (id) =>
      guard(`Deleting ${nameOf(id)}`, id, async () => {
        await stat(pathOf(id)); // no lock for what is not there
        const release = await lock(id);
        try {
          await rm(pathOf(id));
          for (const other of await readdir(root)) {
            if (other.startsWith(`${nameOf(id)}.damaged-`))
              await rm(join(root, other), { force: true });
          }
        } finally {
          await release();
        }
      }),
    holder: async (id) =>
      guard(`Reading ${join(root, LOCKS)}`, "", async () => {
        checkSessionId(id);
        return holderOf(join(root, LOCKS), id, await (self ??= identifySelf()));
      }),
  };

  function pathOf(id: string): string {
    return join(root, `${nameOf(id)}${EXTENSION}`);
  }

  async function lock(id: string): Promise<() => Promise<void>> {
    return takeLock(join(root, LOCKS), id, { clock, self: await (self ??= identifySelf()) });
  }

  function hold(id: string, take: () => Promise<() => Promise<void>>): Promise<SessionWriter> {
    return openLog({ path: pathOf(id), id, aside: join(root, nameOf(id)), sync, lock: take });
  }

  async function* guarded<T>(
    id: string,
    read: (path: string) => AsyncIterable<T>,
  ): AsyncGenerator<T> {
    const path = pathOf(id);
    try {
      yield* read(path);
    } catch (error) {
      throw toError(error, `Reading ${path}`, id);
    }
  }
}

/** Throws `invalid_argument` for what can be no id. */
function nameOf(id: string): string {
  checkSessionId(id);
  return toFileName(id);
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
