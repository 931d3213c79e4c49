/** Reads image files for the model. */
import { readFile, stat } from "node:fs/promises";
import type { ImageContent } from "@bowline/core";
import { imageTypeOf } from "../tools/file-kind.ts";
import { UsageError } from "../command-error.ts";

const MAX_BYTES = 20 * 1024 * 1024;

/**
 * Throws `UsageError` for a file that cannot be read, is too large, or is not a PNG, JPEG, GIF or
 * WebP image.
 */
export async function readImage(path: string): Promise<ImageContent> {
  let bytes: Buffer;
  try {
    const { size } = await stat(path);
    if (size > MAX_BYTES)
      throw new UsageError(
        `--image ${path}: ${size} bytes is more than the ${MAX_BYTES} that model servers take.`,
      );
    bytes = await readFile(path);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(
      `--image ${path}: cannot be read (${(error as NodeJS.ErrnoException).code ?? (error as Error).message}).`,
    );
  }
  const mimeType = imageTypeOf(bytes); // by content: file names can be wrong
  if (mimeType === undefined)
    throw new UsageError(`--image ${path}: is not a PNG, JPEG, GIF or WebP image.`);
  return { type: "image", data: bytes.toString("base64"), mimeType };
}
