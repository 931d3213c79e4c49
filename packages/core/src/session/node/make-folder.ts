/** Creates folders that are accessible only to their owner. */
import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Creates the folder and its missing parents. Existing folders stay as they are. Rejects with the
 * system's error. Node's recursive `mkdir` is not used, because it loops forever below folders such
 * as `/proc`. There, creating a child fails with ENOENT although the parent exists.
 */
export async function makeFolder(folder: string): Promise<void> {
  const error = await make(folder);
  if (error === undefined) return;
  const parent = dirname(folder);
  if (error.code !== "ENOENT" || parent === folder) throw error;
  if (!(await isFolder(parent))) await makeFolder(parent);
  const again = await make(folder); // another process may have created the parent
  if (again !== undefined) throw again;
}

/** Creates one folder. Returns the error if the folder does not exist afterwards. */
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
