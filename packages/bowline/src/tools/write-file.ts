/**
 * Replacing a file whole or not at all: a temporary file beside it, flushed, then renamed over it.
 * On Linux every step names its folder by the open descriptor, so that a folder swapped for a link
 * under way cannot lead the write elsewhere.
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
   * What the file was when it was read; the write is refused if it has changed since, and makes no
   * folder.
   */
  readonly expected?: BigIntStats;
}

/**
 * A text as it is written. Throws for half a character (a lone surrogate): no file of text can hold
 * one, and to put another in its place would be a change that nobody asked for.
 */
export function toBytes(text: string): Buffer {
  if (/\p{Cs}/u.test(text))
    throw toolError("The new text holds half a character (a lone surrogate); write it whole");
  return Buffer.from(text);
}

/** Writes the file and makes its folders. Says whether there was none before. */
export async function writeFileInside(
  workspace: Workspace,
  place: Place,
  data: Uint8Array,
  { signal, expected }: WriteOptions,
): Promise<"created" | "replaced"> {
  if (place.real === workspace.root)
    throw toolError(`${showPath(place.given)} is the working directory, not a file`);
  const path = dirname(place.real);
  // A file that was there had a folder: who removed it meanwhile does not want it back.
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
    await rm(temporary, { force: true }).catch(() => {}); // the first error is the one to tell
    throw (error as NodeJS.ErrnoException).code === "ENOENT" ? movedMeanwhile(place) : error;
  } finally {
    await folder.handle.close();
  }
}

interface Folder {
  readonly handle: FileHandle;
  /** The path of something directly in the folder. */
  at(name: string): string;
}

/** Opens a folder within reach, made with its parents if it is missing. The caller closes it. */
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
    // When the path was resolved, no link was left in it, and no file stood in the way.
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

/** Throws if the folder goes by another name by now: the file would appear there. */
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

/** A rename needs no right to write the file itself; a person who took that right away meant it. */
async function checkReplaceable(place: Place, stats: BigIntStats, target: string): Promise<void> {
  if (!stats.isFile()) throw notRegular(place, stats);
  await access(target, constants.W_OK).catch((error: NodeJS.ErrnoException) => {
    throw error.code === "ENOENT" ? changedMeanwhile(place) : error;
  });
}

/**
 * Whether it is as it was when the new file took over its mode and owner; to most writes its
 * content does not matter.
 */
function isAlike(now: BigIntStats | undefined, before: BigIntStats | undefined): boolean {
  return now?.mode === before?.mode && now?.uid === before?.uid && now?.gid === before?.gid;
}

interface NewFile {
  readonly temporary: string;
  readonly data: Uint8Array;
  /** What it will replace. */
  readonly before: BigIntStats | undefined;
}

/**
 * With the mode and, where allowed, the owner and group of the file it will replace; never with its
 * set-user-id bits.
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
