/**
 * Large files of messages and tool results are kept beside the log. In the log, the `data` of their
 * part is a reference. Only the content of messages and of results is looked through.
 */
import { BowlineError } from "../errors.ts";
import { isRecord } from "../json-value.ts";
import type { AnyEntry } from "./entry.ts";

/** What stands in a log instead of the base64 `data` of a content part. */
export interface StoredFile {
  /** The SHA-256 of the bytes in hex digits, or another key of the store. */
  readonly storedFile: string;
  /** The number of bytes, before base64. */
  readonly bytes: number;
}

/** The longest base64 that stays in the log: 16 KiB before base64. */
const MAX_INLINE = Math.ceil((16 * 1024) / 3) * 4;

/** Base64 that decoding and encoding returns unchanged. Other text stays in the log. */
const CANONICAL = /^[A-Za-z0-9+/]*(?:[AQgw]==|[AEIMQUYcgkosw048]=)?$/;

type Part = Readonly<Record<string, unknown>>;

/**
 * Returns the entry with what `keep` returns in place of its large files. Returns the same entry if
 * it has none. Throws `invalid_argument` for a part that already holds a reference, since it would
 * name a file that is not its own.
 */
export function takeOutFiles(entry: AnyEntry, keep: (data: string) => StoredFile): AnyEntry {
  return mapParts(entry, (part) => {
    const { data } = part;
    if (isStoredFile(data))
      throw new BowlineError(
        "invalid_argument",
        "The data of a content part must be base64, not a reference to a stored file.",
      );
    if (typeof data !== "string" || data.length <= MAX_INLINE) return part;
    const isExact = data.length % 4 === 0 && CANONICAL.test(data);
    return isExact ? { ...part, data: keep(data) } : part;
  });
}

/** Returns the references in an entry. */
export function storedFilesIn(entry: AnyEntry): StoredFile[] {
  const found: StoredFile[] = [];
  mapParts(entry, (part) => {
    if (isStoredFile(part.data)) found.push(part.data);
    return part;
  });
  return found;
}

/**
 * Returns the entry with its files. `find` returns the base64 of a file, or undefined if it is
 * missing or damaged; a text part says so then. `onRestored` receives each part with its data.
 */
export function putBackFiles(
  entry: AnyEntry,
  find: (file: StoredFile) => string | undefined,
  onRestored?: (part: object, file: StoredFile) => void,
): AnyEntry {
  return mapParts(entry, (part) => {
    const { data: file, name, mimeType } = part;
    if (!isStoredFile(file)) return part;
    const data = find(file);
    if (data === undefined) {
      const about = [name, mimeType].filter((text) => typeof text === "string").join(", ");
      const text = `[A file of ${file.bytes} bytes (${about}) is missing or damaged in the session's storage.]`;
      return { type: "text", text };
    }
    const whole = { ...part, data };
    onRestored?.(whole, file);
    return whole;
  });
}

/** Returns whether a part's `data` is a reference. */
export function isStoredFile(data: unknown): data is StoredFile {
  return isRecord(data) && typeof data.storedFile === "string" && typeof data.bytes === "number";
}

/** Maps the content parts of the entry's message or result. Other values stay the same objects. */
function mapParts(entry: AnyEntry, change: (part: Part) => Part): AnyEntry {
  const { message, result } = entry as { readonly message?: unknown; readonly result?: unknown };
  if (isRecord(message)) {
    const changed = mapContent(message, change);
    return changed === message ? entry : withField(entry, { message: changed });
  }
  // The result of a `tool_result` entry is a settled call, which has the tool's result.
  if (!isRecord(result) || !isRecord(result.result)) return entry;
  const changed = mapContent(result.result, change);
  return changed === result.result
    ? entry
    : withField(entry, { result: { ...result, result: changed } });
}

function withField(entry: AnyEntry, field: object): AnyEntry {
  return { ...entry, ...field };
}

function mapContent(holder: Part, change: (part: Part) => Part): Part {
  const { content } = holder;
  if (!Array.isArray(content)) return holder;
  const parts = content as readonly unknown[];
  const changed = parts.map((part) => (isRecord(part) ? change(part) : part));
  return changed.every((part, index) => part === parts[index])
    ? holder
    : { ...holder, content: changed };
}
