/**
 * Secrets out of what is kept: by the name of their header or query parameter, by the look of a
 * key, and as given.
 */
import { SecretScan, SecretTrie, type SecretSpan } from "./find-secrets.ts";

/**
 * What is shorter is taken for no secret. Vendors' keys have 32 characters and more, and what
 * people make up for servers of their own has the 8 that passwords must have at the least. What
 * stands in for a key where none is asked for (`ollama`, `EMPTY`, `key`) is a word, and harmless
 * texts have it too.
 */
export const MIN_SECRET_LENGTH = 8;

export interface Redactor {
  /** Given secrets and what looks like a key, replaced; those that overlap by one mark. */
  readonly text: (text: string) => string;
  /** The same for a text that comes in pieces. */
  readonly stream: () => RedactedStream;
  /**
   * The same in the bytes of one body, also where a secret lies across chunks. As many chunks as
   * before.
   */
  readonly chunks: (chunks: readonly Uint8Array[]) => Uint8Array[];
  /** Key-like query parameters and credentials too. */
  readonly url: (url: string) => string;
  /** Headers that carry secrets keep their names. */
  readonly headers: (headers: Headers) => Record<string, string>;
}

/** However the pieces are cut, all that is given together is as {@link Redactor.text} gives it. */
export interface RedactedStream {
  /** What can be given of all that came so far: what may become a secret waits for what follows. */
  push(piece: string): string;
  /**
   * The rest, where a part of the text ends. Of a secret that goes on in the next part the rest is
   * replaced.
   */
  end(): string;
}

/** Stands where a secret was. */
export const MARK = "[redacted]";

const headerNames =
  /^(?:(?:proxy-)?authorization|(?:set-)?cookie2?|.*api-?key|(?:.*-)?(?:token|secret|password|access-key|subscription-key))$/i;

/**
 * Credentials before a host, and the values of parameters in whose name a word for a secret stands.
 */
export const secretsInUrls: RegExp =
  /(?<=:\/\/)[^/@\s]+(?=@)|(?<=[?&][^=\s]*(?:auth|key|pass|secret|sig|token)[^=\s]*=)[^&\s]+/gi;

/**
 * `secrets` are replaced wherever they stand, as they are or escaped for JSON or a URL, or in
 * base64; not those under 8 characters.
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
  /** Not given yet. */
  #held = "";
  /** Where that begins. */
  #from = 0;
  /** Up to here a mark stands for what was found. */
  #markedTo = 0;
  /** Nothing was given behind that mark. */
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

  /** Up to there. What was found and goes on behind it is marked now, and its rest is left out. */
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
    spans.splice(0, Math.min(done, spans.length - 1)); // the last may yet grow
    return given + this.#giveTo(to);
  }

  #giveTo(to: number): string {
    const given = this.#held.slice(0, Math.max(0, to - this.#from));
    if (given !== "") this.#endsMarked = false;
    this.#skipTo(to);
    return given;
  }

  /** One for all that overlaps, and one where something was given in between. */
  #mark(start: number, end: number): string {
    if (end <= this.#from) return ""; // the last of before
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
    const encoded = encodeURIComponent(new TextDecoder().decode(bytes)); // it throws on half a character
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
 * A match is replaced in the chunk where it begins; the chunks it goes on in lose their part of it.
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
      if (match.end > end) break; // it goes on in the next chunk
    }
    return fromLatin1(kept + joined.slice(at, end));
  });
}

/** One character a byte, so that a pattern can look at bytes. */
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
