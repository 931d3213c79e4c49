/** Folders for their owner only. */
import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Makes the folder, and those above it that are not there; one that is there stays as it is. Rejects with the system's error. Node's
 * own recursive `mkdir` never comes back where a folder is there and takes no others, such as `/proc`: it is told ENOENT, and makes the
 * folder above again and again.
 */
export async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    if (await isFolder(folder)) return;
    const parent = dirname(folder);
    if ((error as NodeJS.ErrnoException).code !== "ENOENT" || parent === folder || (await isFolder(parent)))
      throw error;
    await makeFolder(parent);
    await makeFolder(folder);
  }
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
