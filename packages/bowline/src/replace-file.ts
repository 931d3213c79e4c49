/** Files that the gateway writes. Each is replaced as a whole and readable by its owner only. */
import { open, rename, rm, type FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import { BowlineError } from "@bowline/core";
import { makeFolder } from "@bowline/core/session/node";

/** Error codes that a retry may fix: no space left, or too many files open. */
const passing = new Set(["ENOSPC", "EDQUOT", "EFBIG", "EMFILE", "ENFILE", "EAGAIN", "EBUSY"]);

/**
 * Writes a file and resolves when it is on the disk. Creates its folder if needed. Rejects with
 * `storage_failed`, which is retryable when there was no space; the old file is then unchanged.
 */
export async function replaceFile(path: string, text: string): Promise<void> {
  const fresh = `${path}.new`;
  try {
    const file = await create(fresh);
    try {
      await file.writeFile(text);
      await file.datasync();
    } finally {
      await file.close();
    }
    await rename(fresh, path);
    await syncFolder(dirname(path));
  } catch (error) {
    await rm(fresh, { force: true }).catch(() => {});
    const { code = "" } = error as NodeJS.ErrnoException;
    throw new BowlineError("storage_failed", `Writing ${path} failed (${code}).`, {
      cause: error,
      retryable: passing.has(code),
    });
  }
}

/** Syncs a folder, so that a new name survives a power loss. Windows does not support it. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r").catch(() => undefined);
  await folder?.sync().catch(() => {});
  await folder?.close();
}

async function create(path: string): Promise<FileHandle> {
  try {
    return await open(path, "w", 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    await makeFolder(dirname(path));
    return open(path, "w", 0o600);
  }
}
