/**
 * Creates a session's file atomically: it is renamed to its final name after everything is written.
 */
import { rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import type { AnyEntry, SessionHeader } from "../entry.ts";
import { encodeEntry, encodeHeader } from "./record.ts";
import { syncFolder, withFile } from "./file.ts";
import { withoutFiles, type FileFolder, type NewFile } from "./file-folder.ts";

/** Number of entries per write. */
const BATCH = 1000;

export interface NewLog {
  readonly path: string;
  readonly header: SessionHeader;
  readonly entries: readonly AnyEntry[];
  /** Whether to sync to the disk before resolving. */
  readonly mustSync: boolean;
  readonly files: FileFolder;
}

/** Creates the file. The caller must hold the session's lock. */
export async function createLog({ path, header, entries, mustSync, files }: NewLog): Promise<void> {
  const temporary = `${path}.new`;
  try {
    await withFile(temporary, "w", async (file) => {
      await file.writeFile(encodeHeader(header));
      for (let at = 0; at < entries.length; at += BATCH) {
        const found: NewFile[] = [];
        const lean = entries.slice(at, at + BATCH).map((entry) => withoutFiles(entry, found));
        await files.write(found);
        await file.writeFile(Buffer.concat(lean.map(encodeEntry)));
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
