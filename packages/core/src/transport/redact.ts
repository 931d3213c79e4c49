/**
 * Redacts secrets from stored text: given secrets, text that looks like a vendor's key, and headers
 * and query parameters with secret names.
 */
import { SecretScan, SecretTrie, type SecretSpan } from "./find-secrets.ts";

/**
 * Shorter texts are not treated as secrets. Vendors' keys have 32 characters and more, and
 * passwords for self-hosted servers usually at least 8. Placeholders for servers without keys
 * (`ollama`, `EMPTY`, `key`) are words that harmless text contains too.
 */
export const MIN_SECRET_LENGTH = 8;

export interface Redactor {
  /** Replaces given secrets and text that looks like a key. Overlapping secrets become one mark. */
  readonly text: (text: string) => string;
  /** Does the same for text that arrives in pieces. */
  readonly stream: () => RedactedStream;
  /**
   * Does the same for the bytes of one body, even for secrets that span chunks. Returns as many
   * chunks as were given.
   */
  readonly chunks: (chunks: readonly Uint8Array[]) => Uint8Array[];
  /** Also replaces credentials and the values of query parameters with secret names. */
  readonly url: (url: string) => string;
  /** Replaces the values of headers that carry secrets, and keeps the names. */
  readonly headers: (headers: Headers) => Record<string, string>;
}

/**
 * However the text is split into pieces, the joined output equals that of {@link Redactor.text}.
 */
export interface RedactedStream {
  /**
   * Returns the text that is final so far. Text that may become a secret is held until more
   * arrives.
   */
  push(piece: string): string;
  /**
   * Returns the rest at the end of a part of the text. If a secret continues in the next part, its
   * remainder is removed there.
   */
  end(): string;
}

/** Replaces each secret. */
export const MARK = "[redacted]";

const headerNames =
  /^(?:(?:proxy-)?authorization|(?:set-)?cookie2?|.*api-?key|(?:.*-)?(?:token|secret|password|access-key|subscription-key))$/i;

/**
 * Matches credentials before a host, and the values of parameters whose name contains a word for a
 * secret.
 */
export const secretsInUrls: RegExp =
  /(?<=:\/\/)[^/@\s]+(?=@)|(?<=[?&][^=\s]*(?:auth|key|pass|secret|sig|token)[^=\s]*=)[^&\s]+/gi;

/**
 * Creates a redactor for `secrets`. Finds each secret as it is, escaped for JSON or a URL, or in
 * base64. Ignores secrets under 8 characters.
 */
export function createRedactor(secrets: readonly string[] = []): Redactor {
  const forms = formsOf(secrets);
  const trie = new SecretTrie(forms);
  let byteTrie: SecretTrie | undefined;
  const toBytes = (form: string): string => latin1(new TextEncoder().encode(form));
  const stream = (): RedactedStream => new Stream(trie);
  const text = (value: string): string => {
    const whole = stream();
    return whole.push(value) + whole.end();
  };
  return {
    text,
    stream,
    chunks: (chunks) => redactChunks(chunks, (byteTrie ??= new SecretTrie(forms.map(toBytes)))),
    url: (url) => text(url.replace(secretsInUrls, MARK)),
    headers: (headers) =>
      Object.fromEntries(
        [...headers].map(([name, value]) => [
          text(name),
          headerNames.test(name) ? MARK : text(value),
        ]),
      ),
  };
}

class Stream implements RedactedStream {
  readonly #scan: SecretScan;
  /** Text that was not returned yet. */
  #held = "";
  /** The position where the held text starts. */
  #from = 0;
  /** The end of the span that the last mark stands for. */
  #markedTo = 0;
  /** Whether nothing was returned after the last mark. */
  #endsMarked = false;

  constructor(trie: SecretTrie) {
    this.#scan = new SecretScan(trie);
  }

  push(piece: string): string {
    this.#scan.read(piece);
    this.#held += piece;
    return this.#take(Math.max(this.#scan.openFrom, this.#from));
  }

  end(): string {
    const rest = this.#take(this.#scan.length);
    this.#scan.beginPart();
    return rest;
  }

  /**
   * Returns the text up to `to`. Marks a secret that extends beyond it now, and drops the rest
   * later.
   */
  #take(to: number): string {
    const { spans } = this.#scan;
    let given = "";
    let done = 0;
    for (const { start, end } of spans) {
      if (start >= to) break;
      given += this.#giveTo(start) + this.#mark(start, end);
      this.#skipTo(Math.min(end, to));
      if (end <= to) done++;
    }
    spans.splice(0, Math.min(done, spans.length - 1)); // the last span may still grow
    return given + this.#giveTo(to);
  }

  #giveTo(to: number): string {
    const given = this.#held.slice(0, Math.max(0, to - this.#from));
    if (given !== "") this.#endsMarked = false;
    this.#skipTo(to);
    return given;
  }

  /** Returns one mark for overlapping spans, and a new mark if text was returned in between. */
  #mark(start: number, end: number): string {
    if (end <= this.#from) return ""; // already handled
    const isMarked = start < this.#markedTo && this.#endsMarked;
    this.#markedTo = end;
    this.#endsMarked = true;
    return isMarked ? "" : MARK;
  }

  #skipTo(to: number): void {
    if (to <= this.#from) return;
    this.#held = this.#held.slice(to - this.#from);
    this.#from = to;
  }
}

function formsOf(secrets: readonly string[]): string[] {
  const plain = secrets
    .flatMap((secret) => [secret, secret.trim()])
    .filter((secret) => secret.trim().length >= MIN_SECRET_LENGTH);
  const forms = plain.flatMap((secret) => {
    const bytes = new TextEncoder().encode(secret);
    const json = JSON.stringify(secret).slice(1, -1);
    const ascii = json.replace(
      /[\u0080-\uffff]/g,
      (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );
    // `encodeURIComponent` throws on a lone surrogate.
    const encoded = encodeURIComponent(new TextDecoder().decode(bytes));
    return [
      secret,
      json,
      ascii,
      encoded,
      new URLSearchParams({ "": secret }).toString().slice(1),
      btoa(latin1(bytes)),
    ];
  });
  return [...new Set(forms)];
}

/**
 * Replaces each match in the chunk where it starts, and removes its remainder from the following
 * chunks.
 */
function redactChunks(chunks: readonly Uint8Array[], trie: SecretTrie): Uint8Array[] {
  const joined = chunks.map(latin1).join("");
  const scan = new SecretScan(trie);
  scan.read(joined);
  const matches: readonly SecretSpan[] = scan.spans;
  if (matches.length === 0) return [...chunks];
  let end = 0;
  let next = 0;
  return chunks.map((chunk) => {
    const start = end;
    end += chunk.length;
    let at = start;
    let kept = "";
    for (; next < matches.length; next++) {
      const match = matches[next] as (typeof matches)[number];
      if (match.start >= end) break;
      kept += joined.slice(at, Math.max(at, match.start));
      if (match.start >= start) kept += MARK;
      at = Math.min(match.end, end);
      if (match.end > end) break; // the match continues in the next chunk
    }
    return fromLatin1(kept + joined.slice(at, end));
  });
}

/** Maps each byte to one character, so that text functions work on bytes. */
export function latin1(bytes: Uint8Array): string {
  let text = "";
  for (let start = 0; start < bytes.length; start += 8192) {
    text += String.fromCharCode(...bytes.subarray(start, start + 8192));
  }
  return text;
}

export function fromLatin1(text: string): Uint8Array {
  return Uint8Array.from(text, (char) => char.charCodeAt(0));
}
