/**
 * Opens a session's file for its writer. Repairs the end of the file; the rest is read only when
 * needed.
 */
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { sessionNotFound, type SessionDamage, type SessionWriter } from "../store.ts";
import { withFile } from "./file.ts";
import type { FileFolder } from "./file-folder.ts";
import { readHeader } from "./read-log.ts";
import { repairTail } from "./repair.ts";
import { systemCode } from "./storage-error.ts";
import { LogWriter, type SyncPolicy } from "./write-log.ts";

export interface OpenLogOptions {
  readonly path: string;
  readonly id: string;
  /** Path prefix of files for damaged bytes. */
  readonly aside: string;
  readonly sync: SyncPolicy;
  readonly files: FileFolder;
  /** Takes the session's lock. Resolves with a function that releases it. */
  readonly lock: () => Promise<() => Promise<void>>;
}

/**
 * Opens the file. Rejects with the system's `ENOENT`, without taking the lock, when there is no
 * such file.
 */
export async function openLog({
  path,
  id,
  aside,
  sync,
  files,
  lock,
}: OpenLogOptions): Promise<SessionWriter> {
  const handle = await open(path, constants.O_RDWR | constants.O_APPEND);
  let release = async (): Promise<void> => {};
  try {
    release = await lock();
    const file = { handle, path };
    const damage: SessionDamage[] = [];
    const { size, nlink } = await handle.stat();
    if (nlink === 0) throw sessionNotFound(id); // deleted before the lock was taken
    // Before the repair, because this rejects files of a newer version.
    const header = await readHeader(file, {
      id,
      size,
      onDamage: (found) => void damage.push(found),
    });
    const mustSync = sync !== "never";
    const keep = (torn: Buffer): Promise<string> => saveAside(`${aside}.damaged`, torn, mustSync);
    const tail = await repairTail(file, { size, header, keep, mustSync, damage });
    const log = new LogWriter({ file: handle, path, sync, files, ...tail });
    const close = async (): Promise<void> => {
      try {
        await log.close();
      } finally {
        await release();
      }
    };
    let closing: Promise<void> | undefined;
    return {
      header,
      damage,
      get last() {
        return log.last;
      },
      get nextSeq() {
        return log.nextSeq;
      },
      append: (entries) => log.append(entries),
      close: () => (closing ??= close()),
    };
  } catch (error) {
    await handle.close();
    await release();
    throw error;
  }
}

/** Writes the bytes to a new file. Returns its path. */
async function saveAside(name: string, bytes: Buffer, mustSync: boolean): Promise<string> {
  for (let number = 1; ; number++) {
    const path = `${name}-${number}`;
    try {
      await withFile(path, "wx", async (file) => {
        await file.writeFile(bytes);
        if (mustSync) await file.datasync();
      });
      return path;
    } catch (error) {
      if (systemCode(error) !== "EEXIST") throw error;
    }
  }
}
