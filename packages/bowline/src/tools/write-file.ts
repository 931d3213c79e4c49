/**
 * Replacing a file whole or not at all: a temporary file beside it, flushed, then renamed over it. On Linux every step names its
 * folder by the open descriptor, so that a folder swapped for a link under way cannot lead the write elsewhere.
 */
import { randomUUID } from "node:crypto";
import { constants, type BigIntStats } from "node:fs";
import { access, lstat, mkdir, open, rename, rm, type FileHandle } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { descriptorFolder } from "./descriptors.ts";
import { showPath } from "./escape.ts";
import { isWithin } from "./inside.ts";
import { changedMeanwhile, checkInside, isSame, notRegular } from "./open-file.ts";
import { stopIfAborted, toolError } from "./tool-error.ts";
import { outsideError, type Place, type Workspace } from "./workspace.ts";

export interface WriteOptions {
  readonly signal: AbortSignal;
  /** What the file was when it was read; the write is refused if it has changed since. */
  readonly expected?: BigIntStats;
}

/**
 * A text as it is written. Throws for half a character (a lone surrogate): no file of text can hold one, and to put another in its
 * place would be a change that nobody asked for.
 */
export function toBytes(text: string): Buffer {
  if (/\p{Cs}/u.test(text)) throw toolError("The new text holds half a character (a lone surrogate); write it whole");
  return Buffer.from(text);
}

/** Writes the file and makes its folders. Says whether there was none before. */
export async function writeFileInside(
  workspace: Workspace,
  place: Place,
  data: Uint8Array,
  { signal, expected }: WriteOptions,
): Promise<"created" | "replaced"> {
  if (place.real === workspace.root) throw toolError(`${showPath(place.given)} is the working directory, not a file`);
  const folder = await openFolder(workspace, place, dirname(place.real));
  const target = folder.at(basename(place.real));
  const temporary = folder.at(`.bowline-${randomUUID()}.tmp`);
  try {
    const before = await lookAt(target);
    if (before !== undefined) await checkReplaceable(place, before, target);
    await writeTemporary(temporary, data, before);
    stopIfAborted(signal);
    if (expected !== undefined && !isSame(await lookAt(target), expected)) throw changedMeanwhile(place);
    await rename(temporary, target);
    await folder.handle.sync().catch(() => {}); // not every file system can flush a folder
    return before === undefined ? "created" : "replaced";
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {}); // the first error is the one to tell
    throw error;
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
    if ((error as NodeJS.ErrnoException).code !== "ENOENT" || path === workspace.reach) throw error;
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

async function openExisting(workspace: Workspace, place: Place, here: string, path: string): Promise<Folder> {
  const handle = await open(here, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    await checkInside(workspace, place, handle, path);
  } catch (error) {
    await handle.close();
    throw error;
  }
  const inside = descriptorFolder === undefined ? path : `${descriptorFolder}/${handle.fd}`;
  return { handle, at: (name) => join(inside, name) };
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
  await access(target, constants.W_OK);
}

/** With the mode and, where allowed, the owner of the file it will replace; never with its set-user-id bits. */
async function writeTemporary(path: string, data: Uint8Array, before: BigIntStats | undefined): Promise<void> {
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  const handle = await open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, before === undefined ? 0o666 : 0o600);
  try {
    await handle.writeFile(data);
    if (before !== undefined) {
      await handle.chown(Number(before.uid), Number(before.gid)).catch(() => {});
      await handle.chmod(Number(before.mode) & 0o777);
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
}
