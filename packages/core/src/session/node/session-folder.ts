/** The folder of a store: paths of sessions and their locks. */
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../clock.ts";
import type { AnyEntry, SessionHeader } from "../entry.ts";
import { checkSessionId, sessionExists, type SessionHolder, type SessionWriter } from "../store.ts";
import { createLog } from "./create-log.ts";
import { FileFolder } from "./file-folder.ts";
import { toFileName } from "./file-name.ts";
import { holderOf, takeLock } from "./lock.ts";
import { openLog } from "./open-log.ts";
import { identifySelf, type ProcessIdentity } from "./process-identity.ts";
import { EXTENSION } from "./session-index.ts";
import { ifThere } from "./storage-error.ts";
import type { SyncPolicy } from "./write-log.ts";

type Release = () => Promise<void>;

export class SessionFolder {
  readonly #root: string;
  readonly #locks: string;
  readonly #sync: SyncPolicy;
  readonly #clock: Clock;
  #self: Promise<ProcessIdentity> | undefined;

  constructor(root: string, sync: SyncPolicy, clock: Clock) {
    this.#root = root;
    this.#locks = join(root, "locks");
    this.#sync = sync;
    this.#clock = clock;
  }

  get locks(): string {
    return this.#locks;
  }

  pathOf(id: string): string {
    return join(this.#root, `${nameOf(id)}${EXTENSION}`);
  }

  /** The folder of a session's large files. */
  filesOf(id: string): string {
    return join(this.#root, `${nameOf(id)}.files`);
  }

  async create(header: SessionHeader, entries: readonly AnyEntry[]): Promise<SessionWriter> {
    const { id } = header;
    const path = this.pathOf(id);
    const release = await this.#lock(id);
    try {
      if ((await ifThere(stat(path))) !== undefined) throw sessionExists(id);
      const files = this.#filesFor(id);
      await createLog({ path, header, entries, mustSync: this.#sync !== "never", files });
      return await this.#hold(id, async () => release, files);
    } catch (error) {
      await release();
      throw error;
    }
  }

  open(id: string): Promise<SessionWriter> {
    return this.#hold(id, () => this.#lock(id), this.#filesFor(id));
  }

  async delete(id: string): Promise<void> {
    const path = this.pathOf(id);
    await stat(path); // rejects for a missing session before taking a lock
    const release = await this.#lock(id);
    try {
      await rm(path);
      // After the log, so that a crash leaves no session without its files.
      await rm(this.filesOf(id), { recursive: true, force: true });
      for (const other of await readdir(this.#root)) {
        if (other.startsWith(`${nameOf(id)}.damaged-`))
          await rm(join(this.#root, other), { force: true });
      }
    } finally {
      await release();
    }
  }

  async holder(id: string): Promise<SessionHolder | undefined> {
    checkSessionId(id);
    return holderOf(this.#locks, id, await this.#identity());
  }

  async #lock(id: string): Promise<Release> {
    return takeLock(this.#locks, id, { clock: this.#clock, self: await this.#identity() });
  }

  #hold(id: string, lock: () => Promise<Release>, files: FileFolder): Promise<SessionWriter> {
    const aside = join(this.#root, nameOf(id));
    return openLog({ path: this.pathOf(id), id, aside, sync: this.#sync, files, lock });
  }

  #filesFor(id: string): FileFolder {
    return new FileFolder(this.filesOf(id), this.#sync !== "never");
  }

  #identity(): Promise<ProcessIdentity> {
    return (this.#self ??= identifySelf());
  }
}

/**
 * Returns the file name of a session without extension. Throws `invalid_argument` for an invalid
 * id.
 */
export function nameOf(id: string): string {
  checkSessionId(id);
  return toFileName(id);
}
