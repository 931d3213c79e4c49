/**
 * Returns a value as JSON that model servers accept. Half surrogate pairs become U+FFFD and NUL is
 * removed, in names too. `JSON.stringify` escapes both, so one search finds whether there are any.
 * Use it for JSON inside a string as well.
 */
// Q130, Q131
export function toWireJson(value: unknown): string {
  const json = JSON.stringify(value);
  if (!/\\u(?:d|0000)/.test(json)) return json;
  // Only after an even number of backslashes, since an escaped backslash starts no escape.
  const mended = json
    .replace(/(?<!\\)((?:\\\\)*)\\ud.../g, "$1\ufffd")
    .replace(/(?<!\\)((?:\\\\)*)\\u0000/g, "$1");
  return JSON.stringify(JSON.parse(mended)); // parsing merges names that became equal
}
