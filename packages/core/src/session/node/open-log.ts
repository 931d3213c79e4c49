/**
 * Opens a session's file for its one writer: the end is mended, the rest is read when it is asked
 * for.
 */
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { sessionNotFound, type SessionDamage, type SessionWriter } from "../store.ts";
import { withFile } from "./file.ts";
import { readHeader } from "./read-log.ts";
import { repairTail } from "./repair.ts";
import { systemCode } from "./storage-error.ts";
import { LogWriter, type SyncPolicy } from "./write-log.ts";

export interface OpenLogOptions {
  readonly path: string;
  readonly id: string;
  /** Begins the names of files that keep what is cut off. */
  readonly aside: string;
  readonly sync: SyncPolicy;
  /** Takes the session's lock, and gives what lets it go. */
  readonly lock: () => Promise<() => Promise<void>>;
}

/** Rejects with the system's `ENOENT` when there is no such file, and then takes no lock. */
export async function openLog({
  path,
  id,
  aside,
  sync,
  lock,
}: OpenLogOptions): Promise<SessionWriter> {
  const handle = await open(path, constants.O_RDWR | constants.O_APPEND);
  let release = async (): Promise<void> => {};
  try {
    release = await lock();
    const file = { handle, path };
    const damage: SessionDamage[] = [];
    const { size, nlink } = await handle.stat();
    if (nlink === 0) throw sessionNotFound(id); // deleted before the lock was there
    // First, because it leaves what is of a newer version.
    const header = await readHeader(file, {
      id,
      size,
      onDamage: (found) => void damage.push(found),
    });
    const mustSync = sync !== "never";
    const keep = (torn: Buffer): Promise<string> => keepAside(`${aside}.damaged`, torn, mustSync);
    const tail = await repairTail(file, { size, header, keep, mustSync, damage });
    const log = new LogWriter({ file: handle, path, sync, ...tail });
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

/** In a file that was not there. */
async function keepAside(name: string, bytes: Buffer, mustSync: boolean): Promise<string> {
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
