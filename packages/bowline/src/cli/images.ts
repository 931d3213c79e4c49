/** Images for the model, from files. */
import { readFile, stat } from "node:fs/promises";
import type { ImageContent } from "@bowline/core";
import { UsageError } from "./exit.ts";

const MAX_BYTES = 20 * 1024 * 1024;

/** By their first bytes; a name can say anything. */
const signatures: readonly (readonly [mimeType: string, test: (bytes: Buffer) => boolean])[] = [
  ["image/png", (bytes) => bytes.subarray(0, 4).equals(Buffer.from([0x89, 0x50, 0x4e, 0x47]))],
  ["image/jpeg", (bytes) => bytes.subarray(0, 3).equals(Buffer.from([0xff, 0xd8, 0xff]))],
  ["image/gif", (bytes) => bytes.toString("latin1", 0, 4) === "GIF8"],
  ["image/webp", (bytes) => bytes.toString("latin1", 0, 4) === "RIFF" && bytes.toString("latin1", 8, 12) === "WEBP"],
];

/** Throws `UsageError` for a file that cannot be read, is too large, or is no PNG, JPEG, GIF or WebP. */
export async function readImage(path: string): Promise<ImageContent> {
  let bytes: Buffer;
  try {
    const { size } = await stat(path);
    if (size > MAX_BYTES)
      throw new UsageError(`--image ${path}: ${size} bytes is more than the ${MAX_BYTES} that model servers take.`);
    bytes = await readFile(path);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(
      `--image ${path}: cannot be read (${(error as NodeJS.ErrnoException).code ?? (error as Error).message}).`,
    );
  }
  const mimeType = signatures.find(([, test]) => test(bytes))?.[0];
  if (mimeType === undefined) throw new UsageError(`--image ${path}: is no PNG, JPEG, GIF or WebP.`);
  return { type: "image", data: bytes.toString("base64"), mimeType };
}
