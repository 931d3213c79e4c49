/**
 * Opens files that may have been swapped since their path was resolved. Does not open links or
 * devices, and checks the location again after opening.
 */
import { constants, type BigIntStats, type Stats } from "node:fs";
import { lstat, open, readlink, realpath, stat, type FileHandle } from "node:fs/promises";
import { descriptorFolder } from "./descriptors.ts";
import { showPath } from "../escape.ts";
import { isWithin } from "./inside.ts";
import { changedMeanwhile, toolError } from "./tool-error.ts";
import { outsideError, type Place, type Workspace } from "./workspace.ts";

export interface OpenFile {
  readonly handle: FileHandle;
  readonly stats: BigIntStats;
}

/** Opens a regular file for reading. The caller closes it. */
export async function openFile(workspace: Workspace, place: Place): Promise<OpenFile> {
  const before = await lstat(place.real);
  // Opening a device can have side effects.
  if (!before.isFile() && !before.isSymbolicLink()) throw notRegular(place, before);
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const handle = await open(place.real, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(
    (error: NodeJS.ErrnoException) => {
      // The resolved path contained no links.
      throw error.code === "ELOOP" ? changedMeanwhile(place) : error;
    },
  );
  try {
    await checkInside(workspace, place, handle, place.real);
    const stats = await handle.stat({ bigint: true });
    if (!stats.isFile()) throw notRegular(place, stats);
    return { handle, stats };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/**
 * Throws if the open file is out of reach. Without /proc/self/fd, compares it with the current
 * target of `path`.
 */
export async function checkInside(
  workspace: Workspace,
  place: Place,
  handle: FileHandle,
  path: string,
): Promise<void> {
  if (descriptorFolder !== undefined) {
    if (isWithin(workspace, await readlink(`${descriptorFolder}/${handle.fd}`))) return;
    throw outsideError(workspace, place.given);
  }
  const [now, opened] = [await realpath(path), await handle.stat()];
  const { dev, ino } = await stat(now);
  if (isWithin(workspace, now) && dev === opened.dev && ino === opened.ino) return;
  throw outsideError(workspace, place.given);
}

/**
 * Returns true if it is the same file with the same content, judged by size and modification time.
 */
export function isSame(now: BigIntStats | undefined, then: BigIntStats): boolean {
  return (
    now?.ino === then.ino &&
    now.dev === then.dev &&
    now.size === then.size &&
    now.mtimeNs === then.mtimeNs
  );
}

/** Returns true if an open file changed since it was opened. */
export async function hasChanged({ handle, stats }: OpenFile): Promise<boolean> {
  return !isSame(await handle.stat({ bigint: true }), stats);
}

/**
 * Returns `learned`, or throws if the file changed while it was read: the content may be part old
 * and part new.
 */
export async function unlessChanged<T>(place: Place, file: OpenFile, learned: T): Promise<T> {
  if (await hasChanged(file)) throw changedMeanwhile(place);
  return learned;
}

/** Returns the error for something that is not a regular file. */
export function notRegular(place: Place, stats: Stats | BigIntStats): Error {
  const shown = showPath(place.given);
  if (stats.isDirectory())
    return toolError(
      `${shown} is a folder; list it with glob (path "${showPath(place.shown)}", pattern "*", kind "any")`,
    );
  return toolError(`${shown} is ${kindOf(stats)}, not a regular file`);
}

function kindOf(stats: Stats | BigIntStats): string {
  if (stats.isFIFO()) return "a named pipe";
  if (stats.isSocket()) return "a socket";
  if (stats.isSymbolicLink()) return "a symbolic link";
  return "a device";
}
