/** Detects the kind of a file by its first bytes. */

/** Number of bytes that are examined. A NUL among them means binary. */
export const HEAD_BYTES = 8192;

/** Returns the media type of an image that models accept. */
export function imageTypeOf(head: Buffer): string | undefined {
  if (startsWith(head, "89504e470d0a1a0a")) return "image/png";
  if (startsWith(head, "ffd8ff")) return "image/jpeg";
  if (startsWith(head, "474946383761") || startsWith(head, "474946383961")) return "image/gif";
  if (startsWith(head, "52494646") && head.toString("latin1", 8, 12) === "WEBP")
    return "image/webp";
  return undefined;
}

const KINDS: readonly (readonly [string, string])[] = [
  ["25504446", "PDF document"],
  ["504b0304", "ZIP archive or office document"],
  ["1f8b", "gzip archive"],
  ["28b52ffd", "zstd archive"],
  ["fd377a585a00", "xz archive"],
  ["7f454c46", "ELF program"],
  ["0061736d", "WebAssembly module"],
  ["53514c69746520666f726d6174203300", "SQLite database"],
  ["fffe", "UTF-16 text"],
  ["feff", "UTF-16 text"],
];

/** Describes a file that is not UTF-8 text. */
export function binaryKindOf(head: Buffer): string {
  const known = KINDS.find(([magic]) => startsWith(head, magic))?.[1];
  return known ?? (head.includes(0) ? "binary data" : "not UTF-8 text");
}

/** Throws if the bytes are not UTF-8. With `isCut`, an incomplete last character is dropped. */
export function decodeUtf8(bytes: Uint8Array, isCut = false): string {
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes, {
    stream: isCut,
  });
}

function startsWith(head: Buffer, hex: string): boolean {
  return head.toString("hex", 0, hex.length / 2) === hex;
}
