/** Reads image files for a draft. */
import { open } from "node:fs/promises";
import { constants } from "node:fs";
import { join, resolve } from "node:path";
import { CommandError } from "../../command-error.ts";
import { oneLine } from "../../terminal.ts";
import type { DraftImage } from "./draft.ts";

/** The size that model servers take. */
export const MAX_IMAGE_BYTES: number = 20 * 1024 * 1024;

export interface ImageFileOptions {
  /** Relative paths begin here. */
  readonly directory: string;
  /** The folder that "~" stands for. */
  readonly home: string;
  /** Returns the media type of an image by its first bytes. */
  readonly typeOf: (bytes: Buffer) => string | undefined;
}

/**
 * Resolves to undefined if there is no such file. Throws `CommandError` if it is not a readable
 * image or too large.
 */
export async function readImageFile(
  path: string,
  { directory, home, typeOf }: ImageFileOptions,
  signal: AbortSignal,
): Promise<DraftImage | undefined> {
  const full = path.startsWith("~/") ? join(home, path.slice(2)) : resolve(directory, path);
  const name = oneLine(path, 200);
  try {
    // A named pipe would block without O_NONBLOCK.
    const file = await open(full, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stats = await file.stat();
      if (!stats.isFile()) throw new CommandError(`${name}: is not a file.`);
      if (stats.size > MAX_IMAGE_BYTES)
        throw new CommandError(`${name}: ${stats.size} bytes is more than model servers take.`);
      const bytes = await file.readFile({ signal });
      const mimeType = typeOf(bytes);
      if (mimeType === undefined)
        throw new CommandError(`${name}: is not a PNG, JPEG, GIF or WebP image.`);
      return { mimeType, data: bytes.toString("base64"), bytes: bytes.length, path: full };
    } finally {
      await file.close();
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    if (error instanceof CommandError || signal.aborted) throw error;
    throw new CommandError(`${name}: cannot be read (${code ?? (error as Error).message}).`, {
      cause: error,
    });
  }
}
