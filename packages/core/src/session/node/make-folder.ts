/** Folders for their owner only. */
import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Makes the folder, and those above it that are not there; one that is there stays as it is.
 * Rejects with the system's error. Node's own recursive `mkdir` never comes back where a folder is
 * there and takes no others, such as `/proc`: it is told ENOENT, and makes the folder above again
 * and again.
 */
export async function makeFolder(folder: string): Promise<void> {
  const error = await make(folder);
  if (error === undefined) return;
  const parent = dirname(folder);
  if (error.code !== "ENOENT" || parent === folder) throw error;
  if (!(await isFolder(parent))) await makeFolder(parent);
  const again = await make(folder); // others may have made the parent meanwhile
  if (again !== undefined) throw again;
}

/** Gives why there is no folder. */
async function make(folder: string): Promise<NodeJS.ErrnoException | undefined> {
  try {
    await mkdir(folder, { mode: 0o700 });
    return undefined;
  } catch (error) {
    return (await isFolder(folder)) ? undefined : (error as NodeJS.ErrnoException);
  }
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
