/**
 * Reads files that a project brings. The project may come from a stranger: only regular text files
 * of a limited size that lie inside a folder are read, and no link out of it is followed.
 */
import { createHash } from "node:crypto";
import { constants, type Stats } from "node:fs";
import { lstat, open, realpath } from "node:fs/promises";
import { isAbsolute, relative, sep } from "node:path";

/** Larger files are not read. */
const MAX_FILE_BYTES: number = 1024 * 1024;

export type BoundedFile =
  | {
      readonly kind: "text";
      readonly text: string;
      readonly bytes: number;
      /** SHA-256 of the content. */
      readonly hash: string;
      /** The path without symbolic links. */
      readonly realPath: string;
    }
  | { readonly kind: "missing" }
  /** `why` completes a sentence that begins with the path. */
  | { readonly kind: "refused"; readonly why: string };

/**
 * Reads a file as UTF-8. `folder` is the real path of the folder that the file's real path must be
 * in; undefined for the user's own files, which may be anywhere. Never rejects.
 */
export async function readBounded(
  path: string,
  folder: string | undefined,
  maxBytes: number = MAX_FILE_BYTES,
): Promise<BoundedFile> {
  try {
    return await read(path, folder, maxBytes);
  } catch (error) {
    const { code = "unknown error" } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return { kind: "missing" };
    return { kind: "refused", why: `cannot be read (${code})` };
  }
}

async function read(
  path: string,
  folder: string | undefined,
  maxBytes: number,
): Promise<BoundedFile> {
  const given = await lstat(path);
  const realPath = await realpath(path);
  if (folder !== undefined && !isInFolder(folder, realPath))
    return { kind: "refused", why: "leads out of the folder and was not read" };
  // Before opening, because opening a pipe waits and opening a device can have effects.
  const before = given.isSymbolicLink() ? await lstat(realPath) : given;
  if (!before.isFile()) return { kind: "refused", why: `is ${kindOf(before)} and was not read` };
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const handle = await open(realPath, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const opened = await handle.stat();
    if (!opened.isFile() || opened.ino !== before.ino || opened.dev !== before.dev)
      return { kind: "refused", why: "changed while it was read" };
    if (opened.size > maxBytes)
      return { kind: "refused", why: `is larger than ${sizeText(maxBytes)} and was not read` };
    const buffer = Buffer.alloc(maxBytes + 1);
    let length = 0;
    for (;;) {
      const { bytesRead } = await handle.read(buffer, length, buffer.length - length, length);
      length += bytesRead;
      if (bytesRead === 0 || length > maxBytes) break;
    }
    if (length > maxBytes) return { kind: "refused", why: "grew while it was read" };
    return content(buffer.subarray(0, length), realPath);
  } finally {
    await handle.close();
  }
}

function content(bytes: Buffer, realPath: string): BoundedFile {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return { kind: "refused", why: "is not UTF-8 text and was not read" };
  }
  if (text.includes("\0")) return { kind: "refused", why: "is a binary file and was not read" };
  const hash = createHash("sha256").update(bytes).digest("hex");
  return { kind: "text", text, bytes: bytes.length, hash, realPath };
}

/** Returns true if a path is the folder or lies in it. Both must be real paths. */
export function isInFolder(folder: string, path: string): boolean {
  const from = relative(folder, path);
  return from !== ".." && !from.startsWith(`..${sep}`) && !isAbsolute(from);
}

export function sizeText(bytes: number): string {
  return bytes >= 1024 * 1024 ? `${Math.round(bytes / (1024 * 1024))} MB` : `${bytes >> 10} kB`;
}

function kindOf(stats: Stats): string {
  if (stats.isDirectory()) return "a folder";
  if (stats.isFIFO()) return "a named pipe";
  if (stats.isSocket()) return "a socket";
  return "a device";
}
