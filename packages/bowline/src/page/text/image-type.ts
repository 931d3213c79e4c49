/**
 * Detects the type of an image by its first bytes. The file's name and the browser's guess may be
 * wrong, and servers check.
 */
import type { ImageType } from "../state/sent-image.ts";

const signatures: readonly { readonly type: ImageType; readonly pattern: RegExp }[] = [
  { type: "image/png", pattern: /^\x89PNG\r\n\x1a\n/ },
  { type: "image/jpeg", pattern: /^\xff\xd8\xff/ },
  { type: "image/gif", pattern: /^GIF8[79]a/ },
  { type: "image/webp", pattern: /^RIFF[\s\S]{4}WEBP/ },
];

export const imageTypes: readonly ImageType[] = signatures.map(({ type }) => type);

/** Returns undefined for other types. Needs the first twelve bytes. */
export function imageTypeOf(start: Uint8Array): ImageType | undefined {
  const text = String.fromCharCode(...start.subarray(0, 12));
  return signatures.find(({ pattern }) => pattern.test(text))?.type;
}
