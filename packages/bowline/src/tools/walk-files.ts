/**
 * Lists the files and folders of a project in the background, without those that git ignores. Lists
 * in small steps, so that a terminal stays responsive.
 */
import type { Dir, Dirent } from "node:fs";
import { opendir } from "node:fs/promises";
import { join } from "node:path";
import { IgnoreRules } from "./ignore-rules.ts";

const BATCH = 500;
/** The time after which other work gets its turn, in milliseconds. */
const SLICE_MS = 8;

/**
 * Yields paths relative to `root` in batches, with "/" between names; those of folders end with
 * "/". Goes through the folders by depth, so that what is near comes first. Skips `.git`,
 * `node_modules`, and folders that cannot be read. Links are listed, but not followed.
 */
export async function* walkFiles(
  root: string,
  signal: AbortSignal,
): AsyncGenerator<readonly string[]> {
  const rules = new IgnoreRules(root, root);
  const folders = [""];
  const pause = new Pause();
  let batch: string[] = [];
  for (let index = 0; index < folders.length; index++) {
    const prefix = folders[index] ?? "";
    const folder = await opendir(join(root, prefix), { bufferSize: BATCH }).catch(() => undefined);
    if (folder === undefined) continue;
    for await (const entry of entriesOf(folder)) {
      if (pause.isDue) await pause.take();
      if (signal.aborted) return;
      const isFolder = entry.isDirectory();
      if (rules.isIgnored(join(root, prefix, entry.name), isFolder)) continue;
      const path = `${prefix}${entry.name}${isFolder ? "/" : ""}`;
      if (isFolder) folders.push(path);
      batch.push(path);
      if (batch.length < BATCH) continue;
      yield batch;
      batch = [];
    }
  }
  if (batch.length > 0) yield batch;
}

/** Ends where reading fails, for instance since the folder was deleted meanwhile. */
async function* entriesOf(folder: Dir): AsyncGenerator<Dirent> {
  try {
    for await (const entry of folder) yield entry;
  } catch {
    // The folder is closed. Its other entries are missing from the list.
  }
}

/** Lets other work of the process run. */
class Pause {
  #since = performance.now();

  get isDue(): boolean {
    return performance.now() - this.#since > SLICE_MS;
  }

  async take(): Promise<void> {
    await new Promise((resolve) => void setImmediate(resolve));
    this.#since = performance.now();
  }
}
