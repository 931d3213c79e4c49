/**
 * Secrets out of what is kept: by the name of their header or query parameter, by the look of a
 * key, and as given.
 */

/**
 * What is shorter is taken for no secret. Vendors' keys have 32 characters and more, and what
 * people make up for servers of their own has the 8 that passwords must have at the least. What
 * stands in for a key where none is asked for (`ollama`, `EMPTY`, `key`) is a word, and harmless
 * texts have it too.
 */
export const MIN_SECRET_LENGTH = 8;

export interface Redactor {
  /** Given secrets and what looks like a key, replaced. */
  readonly text: (text: string) => string;
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
 * What vendors' keys look like. Before one stands no letter, but for the letter of a JSON escape
 * such as `\n`.
 */
const lookOfKeys = "(?:(?<![A-Za-z0-9])|(?<=\\\\[bfnrt]))(?:sk-|gsk_|xai-|AIza)[\\w-]{16,}";

/**
 * `secrets` are replaced wherever they stand, as they are or escaped for JSON or a URL, or in
 * base64; not those under 8 characters.
 */
export function createRedactor(secrets: readonly string[] = []): Redactor {
  const forms = formsOf(secrets);
  const textPattern = patternOf(forms);
  const bytePattern = patternOf(forms.map((form) => latin1(new TextEncoder().encode(form))));
  const text = (value: string): string => value.replace(textPattern, MARK);
  return {
    text,
    chunks: (chunks) => redactChunks(chunks, bytePattern),
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

/** The longest first, so that a secret goes whole where another one is a part of it. */
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
  return [...new Set(forms)].toSorted((a, b) => b.length - a.length);
}

function patternOf(forms: readonly string[]): RegExp {
  const given = forms.map((form) => form.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&"));
  return new RegExp([...given, lookOfKeys].join("|"), "g");
}

/**
 * A match is replaced in the chunk where it begins; the chunks it goes on in lose their part of it.
 */
function redactChunks(chunks: readonly Uint8Array[], pattern: RegExp): Uint8Array[] {
  const joined = chunks.map(latin1).join("");
  const matches = [...joined.matchAll(pattern)].map(({ index, 0: { length } }) => ({
    start: index,
    end: index + length,
  }));
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
