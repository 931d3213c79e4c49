/** Reads files for the model, by their content. */
import { basename } from "node:path";
import type { FileContent } from "@bowline/core";
import { decodeUtf8 } from "../tools/file-kind.ts";
import { UsageError } from "../command-error.ts";
import { readAttachment } from "./read-attachment.ts";

/** The largest body that the model servers take is 50 MB; base64 adds a third. */
const MAX_BYTES = 32 * 1024 * 1024;

const signatures: readonly (readonly [type: string, pattern: RegExp])[] = [
  ["application/pdf", /^%PDF-/],
  ["audio/mpeg", /^(?:ID3|\xff[\xfb\xf3\xf2])/],
  ["audio/wav", /^RIFF[^]{4}WAVE/],
  ["video/mp4", /^[^]{4}ftyp/],
];

/** Throws `UsageError` for a file that cannot be read, is too large, or is of an unknown type. */
export async function readInputFile(path: string): Promise<FileContent> {
  const bytes = await readAttachment("--file", path, MAX_BYTES);
  const mimeType = typeOf(bytes); // by content: file names can be wrong
  if (mimeType === undefined)
    throw new UsageError(
      `--file ${path}: is not a PDF, UTF-8 text, MP3, WAV or MP4. Images go to --image.`,
    );
  return { type: "file", data: bytes.toString("base64"), mimeType, name: basename(path) };
}

function typeOf(bytes: Buffer): string | undefined {
  const head = bytes.toString("latin1", 0, 12);
  const known = signatures.find(([, pattern]) => pattern.test(head))?.[0];
  if (known !== undefined) return known;
  try {
    return decodeUtf8(bytes).includes("\0") ? undefined : "text/plain";
  } catch {
    return undefined;
  }
}
