/**
 * Makes a session's file: whole or not at all, because it gets its name when all is on the disk.
 */
import { rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import type { AnyEntry, SessionHeader } from "../entry.ts";
import { encodeEntry, encodeHeader } from "./record.ts";
import { withFile } from "./file.ts";

/** Entries that are put together to one write. */
const BATCH = 1000;

export interface NewLog {
  readonly path: string;
  readonly header: SessionHeader;
  readonly entries: readonly AnyEntry[];
  /** Whether to wait for the disk. */
  readonly mustSync: boolean;
}

/** Only for who has the session's lock. */
export async function createLog({ path, header, entries, mustSync }: NewLog): Promise<void> {
  const temporary = `${path}.new`;
  try {
    await withFile(temporary, "w", async (file) => {
      await file.writeFile(encodeHeader(header));
      for (let at = 0; at < entries.length; at += BATCH) {
        await file.writeFile(Buffer.concat(entries.slice(at, at + BATCH).map(encodeEntry)));
      }
      if (mustSync) await file.datasync();
    });
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  if (mustSync) await syncFolder(dirname(path));
}

/** So that a new name outlives a loss of power. */
async function syncFolder(path: string): Promise<void> {
  try {
    await withFile(path, "r", (folder) => folder.sync());
  } catch {
    // not every system can: Windows
  }
}
