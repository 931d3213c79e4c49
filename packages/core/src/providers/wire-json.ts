/**
 * A value as the JSON that model servers take: half a surrogate pair becomes U+FFFD, NUL is
 * left out, in names, too. `JSON.stringify` writes both as escapes and whole pairs as they
 * are, so one search of the text finds whether there is any. JSON that stands in a string is to be
 * made with this, too.
 */
// Q130, Q131
export function toWireJson(value: unknown): string {
  const json = JSON.stringify(value);
  if (!/\\u(?:d|0000)/.test(json)) return json;
  // Behind an even number of backslashes: an escaped backslash begins no escape.
  const mended = json
    .replace(/(?<!\\)((?:\\\\)*)\\ud.../g, "$1\ufffd")
    .replace(/(?<!\\)((?:\\\\)*)\\u0000/g, "$1");
  return JSON.stringify(JSON.parse(mended)); // names that became one are there once
}
