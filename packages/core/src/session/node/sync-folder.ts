import { withFile } from "./file.ts";

/** So that a name that is new in the folder outlives a loss of power. Not every system can, such as Windows: there nothing is done. */
export async function syncFolder(folder: string): Promise<void> {
  await withFile(folder, "r", (handle) => handle.sync()).catch(() => {});
}
