/**
 * Large JSON values are stored once for a session: a tool's result is in the log twice. A value is
 * cut out of the text of an entry, and a list says where. So a text is put together again byte by
 * byte, and no content can be taken for a reference.
 */
import { createHash } from "node:crypto";

/** A value with a longer text is stored apart. In UTF-16 units. */
const LARGE = 16 * 1024;

export interface Blob {
  /** SHA-256. */
  readonly digest: Buffer;
  readonly bytes: Buffer;
}

/** Where a value was, and its digest in hex digits. */
type Cut = readonly [at: number, digest: string];

export interface CutText {
  readonly body: string;
  /** The cuts as JSON. Null if there are none. */
  readonly parts: string | null;
}

export function blobOf(bytes: Buffer): Blob {
  return { digest: createHash("sha256").update(bytes).digest(), bytes };
}

/** Cuts the large values out of the JSON text of an entry, and passes them to `keep`. */
export function cutLargeValues(text: string, keep: (blob: Blob) => void): CutText {
  if (text.length <= LARGE) return { body: text, parts: null };
  const writer = new Writer(keep);
  try {
    writer.write(JSON.parse(text), true);
  } catch (error) {
    // A value that is nested too deeply for this function, although not for JSON.
    if (!(error instanceof RangeError)) throw error;
    return { body: text, parts: null };
  }
  const { body, cuts } = writer;
  return cuts.length === 0 ? { body: text, parts: null } : { body, parts: JSON.stringify(cuts) };
}

/** Returns the digests in `parts`, in hex digits. */
export function digestsIn(parts: string): string[] {
  return (JSON.parse(parts) as Cut[]).map(([, digest]) => digest);
}

/**
 * Returns the whole text. Undefined if `find` has not all values.
 */
export function restoreText(
  { body, parts }: CutText,
  find: (digest: string) => string | undefined,
): string | undefined {
  if (parts === null) return body;
  let text = "";
  let end = 0;
  for (const [at, digest] of JSON.parse(parts) as Cut[]) {
    const value = find(digest);
    if (value === undefined) return undefined;
    text += body.slice(end, at) + value;
    end = at;
  }
  return text + body.slice(end);
}

/** Writes parsed JSON as `JSON.stringify` does, without the large values. */
class Writer {
  body = "";
  cuts: Cut[] = [];
  readonly #keep: (blob: Blob) => void;

  constructor(keep: (blob: Blob) => void) {
    this.#keep = keep;
  }

  write(value: unknown, isWhole = false): void {
    const [start, before] = [this.body.length, this.cuts.length];
    if (typeof value !== "object" || value === null) this.body += JSON.stringify(value);
    else if (Array.isArray(value)) this.#list(value);
    else this.#object(value as Readonly<Record<string, unknown>>);
    // A value whose parts were cut out is no longer large.
    if (isWhole || this.body.length - start <= LARGE || this.cuts.length > before) return;
    const blob = blobOf(Buffer.from(this.body.slice(start)));
    this.#keep(blob);
    this.body = this.body.slice(0, start);
    this.cuts.push([start, blob.digest.toString("hex")]);
  }

  #list(values: readonly unknown[]): void {
    this.body += "[";
    for (const [index, value] of values.entries()) {
      if (index > 0) this.body += ",";
      this.write(value);
    }
    this.body += "]";
  }

  #object(value: Readonly<Record<string, unknown>>): void {
    this.body += "{";
    for (const [index, name] of Object.keys(value).entries()) {
      this.body += `${index > 0 ? "," : ""}${JSON.stringify(name)}:`;
      this.write(value[name]);
    }
    this.body += "}";
  }
}
