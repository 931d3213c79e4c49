/**
 * Replaces a file atomically: writes and flushes a temporary file beside it, then renames it. On
 * Linux each step refers to the folder by its open descriptor, so that a swapped folder cannot
 * redirect the write.
 */
import { randomUUID } from "node:crypto";
import { constants, type BigIntStats } from "node:fs";
import { access, lstat, mkdir, open, rename, rm, type FileHandle } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { descriptorFolder } from "./descriptors.ts";
import { showPath } from "../escape.ts";
import { isWithin } from "./inside.ts";
import { checkInside, isSame, notRegular } from "./open-file.ts";
import { changedMeanwhile, stopIfAborted, toolError } from "./tool-error.ts";
import { outsideError, type Place, type Workspace } from "./workspace.ts";

export interface WriteOptions {
  readonly signal: AbortSignal;
  /**
   * The file's stats when it was read. The write is refused if it changed since, and no folder is
   * created.
   */
  readonly expected?: BigIntStats;
}

/**
 * Encodes a text. Throws for a lone surrogate, which UTF-8 cannot represent; replacing it would be
 * an unrequested change.
 */
export function toBytes(text: string): Buffer {
  if (/\p{Cs}/u.test(text))
    throw toolError("The new text holds half a character (a lone surrogate); write it whole");
  return Buffer.from(text);
}

/** Writes the file and creates missing folders. Returns whether the file existed before. */
export async function writeFileInside(
  workspace: Workspace,
  place: Place,
  data: Uint8Array,
  { signal, expected }: WriteOptions,
): Promise<"created" | "replaced"> {
  if (place.real === workspace.root)
    throw toolError(`${showPath(place.given)} is the working directory, not a file`);
  const path = dirname(place.real);
  // An existing file had a folder. If that was removed meanwhile, do not create it again.
  const folder = await (expected === undefined
    ? openFolder(workspace, place, path)
    : openExisting(workspace, place, path, path));
  const target = folder.at(basename(place.real));
  const temporary = folder.at(`.bowline-${randomUUID()}.tmp`);
  try {
    const before = await lookAt(target);
    if (before !== undefined) await checkReplaceable(place, before, target);
    await writeTemporary(place, { temporary, data, before });
    stopIfAborted(signal);
    await checkFolder(workspace, place, folder);
    const now = await lookAt(target);
    if (!isAlike(now, before) || (expected !== undefined && !isSame(now, expected)))
      throw changedMeanwhile(place);
    await rename(temporary, target);
    await folder.handle.sync().catch(() => {}); // not every file system can flush a folder
    return before === undefined ? "created" : "replaced";
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {}); // report the first error
    throw (error as NodeJS.ErrnoException).code === "ENOENT" ? movedMeanwhile(place) : error;
  } finally {
    await folder.handle.close();
  }
}

interface Folder {
  readonly handle: FileHandle;
  /** Returns the path of an entry in the folder. */
  at(name: string): string;
}

/** Opens a folder within reach and creates it if missing. The caller closes it. */
async function openFolder(workspace: Workspace, place: Place, path: string): Promise<Folder> {
  if (!isWithin(workspace, path)) throw outsideError(workspace, place.given);
  try {
    return await openExisting(workspace, place, path, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    if (path === workspace.reach)
      throw toolError(
        `The working directory ${showPath(workspace.name)} is no longer there`,
        error,
      );
  }
  const parent = await openFolder(workspace, place, dirname(path));
  try {
    const here = parent.at(basename(path));
    await mkdir(here).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
    return await openExisting(workspace, place, here, path);
  } finally {
    await parent.handle.close();
  }
}

async function openExisting(
  workspace: Workspace,
  place: Place,
  here: string,
  path: string,
): Promise<Folder> {
  const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
  const handle = await open(here, flags).catch((error: NodeJS.ErrnoException) => {
    // The resolved path contained no links, and only folders on the way.
    throw error.code === "ENOTDIR" || error.code === "ELOOP" ? movedMeanwhile(place) : error;
  });
  try {
    await checkInside(workspace, place, handle, path);
  } catch (error) {
    await handle.close();
    throw error;
  }
  const inside = descriptorFolder === undefined ? path : `${descriptorFolder}/${handle.fd}`;
  return { handle, at: (name) => join(inside, name) };
}

/** Throws if the folder was renamed: the file would appear elsewhere. */
async function checkFolder(workspace: Workspace, place: Place, { handle }: Folder): Promise<void> {
  const path = dirname(place.real);
  const [now, opened] = [await lookAt(path), await handle.stat({ bigint: true })];
  if (now?.ino !== opened.ino || now.dev !== opened.dev) throw movedMeanwhile(place);
  await checkInside(workspace, place, handle, path);
}

function movedMeanwhile({ given }: Place): Error {
  const what =
    "its folder, or the temporary file in it, was moved or removed by something else meanwhile";
  return toolError(`${showPath(given)} could not be written: ${what}; try again`);
}

async function lookAt(path: string): Promise<BigIntStats | undefined> {
  try {
    return await lstat(path, { bigint: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/**
 * Renaming does not need write permission on the file, so check it: a user may have removed it
 * deliberately.
 */
async function checkReplaceable(place: Place, stats: BigIntStats, target: string): Promise<void> {
  if (!stats.isFile()) throw notRegular(place, stats);
  await access(target, constants.W_OK).catch((error: NodeJS.ErrnoException) => {
    throw error.code === "ENOENT" ? changedMeanwhile(place) : error;
  });
}

/**
 * Returns true if mode and owner are unchanged since the new file copied them. Content does not
 * matter for most writes.
 */
function isAlike(now: BigIntStats | undefined, before: BigIntStats | undefined): boolean {
  return now?.mode === before?.mode && now?.uid === before?.uid && now?.gid === before?.gid;
}

interface NewFile {
  readonly temporary: string;
  readonly data: Uint8Array;
  /** The file to replace, if it exists. */
  readonly before: BigIntStats | undefined;
}

/**
 * Writes the temporary file with the mode and, where allowed, the owner and group of the old file,
 * but without set-user-id bits.
 */
async function writeTemporary(place: Place, { temporary, data, before }: NewFile): Promise<void> {
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  const mode = before === undefined ? 0o666 : 0o600;
  const handle = await open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== "EACCES" && error.code !== "EPERM") throw error;
      const why =
        "a file is written beside the old one and takes its place, and the folder may not be written to";
      throw toolError(`Permission denied: ${showPath(place.given)} (${why})`, error);
    },
  );
  try {
    await handle.writeFile(data);
    if (before !== undefined) {
      const [owner, group] = [Number(before.uid), Number(before.gid)];
      await handle
        .chown(owner, group)
        .catch(async () => handle.chown(-1, group))
        .catch(() => {});
      await handle.chmod(Number(before.mode) & 0o777);
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
}
