/**
 * What kind of image a file is, by its first bytes: its name and what the browser makes of that may
 * be wrong, and servers look.
 */
import type { ImageType } from "../state/sent-image.ts";

const signatures: readonly { readonly type: ImageType; readonly pattern: RegExp }[] = [
  { type: "image/png", pattern: /^\x89PNG\r\n\x1a\n/ },
  { type: "image/jpeg", pattern: /^\xff\xd8\xff/ },
  { type: "image/gif", pattern: /^GIF8[79]a/ },
  { type: "image/webp", pattern: /^RIFF[\s\S]{4}WEBP/ },
];

export const imageTypes: readonly ImageType[] = signatures.map(({ type }) => type);

/** Undefined for everything else. Twelve bytes are enough. */
export function imageTypeOf(start: Uint8Array): ImageType | undefined {
  const text = String.fromCharCode(...start.subarray(0, 12));
  return signatures.find(({ pattern }) => pattern.test(text))?.type;
}
