/** Reads image files for the model. */
import type { ImageContent } from "@bowline/core";
import { imageTypeOf } from "../tools/file-kind.ts";
import { UsageError } from "../command-error.ts";
import { readAttachment } from "./read-attachment.ts";

const MAX_BYTES = 20 * 1024 * 1024;

/**
 * Throws `UsageError` for a file that cannot be read, is too large, or is not a PNG, JPEG, GIF or
 * WebP image.
 */
export async function readImage(path: string): Promise<ImageContent> {
  const bytes = await readAttachment("--image", path, MAX_BYTES);
  const mimeType = imageTypeOf(bytes); // by content: file names can be wrong
  if (mimeType === undefined)
    throw new UsageError(`--image ${path}: is not a PNG, JPEG, GIF or WebP image.`);
  return { type: "image", data: bytes.toString("base64"), mimeType };
}
