/**
 * Opening what may have been swapped since it was resolved: never a link, never a device, and
 * checked again once it is open.
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
  // Opening a device can have effects of its own.
  if (!before.isFile() && !before.isSymbolicLink()) throw notRegular(place, before);
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const handle = await open(place.real, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(
    (error: NodeJS.ErrnoException) => {
      // The path had no link left in it when it was resolved.
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
 * Throws if what is open is out of reach. Without Linux's names it compares with what `path` leads
 * to now.
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
 * Whether it is the file that was looked at before, and as far as its size and time tell with the
 * same content.
 */
export function isSame(now: BigIntStats | undefined, then: BigIntStats): boolean {
  return (
    now?.ino === then.ino &&
    now.dev === then.dev &&
    now.size === then.size &&
    now.mtimeNs === then.mtimeNs
  );
}

/** Whether an open file is not what it was when it was opened. */
export async function hasChanged({ handle, stats }: OpenFile): Promise<boolean> {
  return !isSame(await handle.stat({ bigint: true }), stats);
}

/**
 * Passes on what was learned from a file, unless it may have been learned from half of the old one
 * and half of the new.
 */
export async function unlessChanged<T>(place: Place, file: OpenFile, learned: T): Promise<T> {
  if (await hasChanged(file)) throw changedMeanwhile(place);
  return learned;
}

/** The error for something that is no regular file. */
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
