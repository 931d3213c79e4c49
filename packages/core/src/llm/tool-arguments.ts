/** Tool arguments, from the text a model wrote. Truncated text is never completed: a call runs on what was said, whole, or not at all. */

export interface ParsedArguments {
  readonly arguments: Record<string, unknown>;
  /** Why the text is no JSON object; absent when it is one. */
  readonly error?: string;
}

/**
 * Parses strictly, then once more with raw control characters and invalid escapes inside strings repaired (Q052, Q150). Empty
 * text is `{}` (Q048, Q148); an object encoded twice is unwrapped once (Q051).
 */
export function parseToolArguments(text: string): ParsedArguments {
  if (text.trim() === "") return { arguments: {} };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    try {
      value = JSON.parse(repairStrings(text));
    } catch {
      return { arguments: {}, error: `The arguments are not valid JSON: ${(error as Error).message}` };
    }
  }
  if (typeof value === "string") value = unwrap(value);
  if (isObject(value)) return { arguments: value };
  return { arguments: {}, error: `The arguments must be a JSON object, not ${describe(value)}.` };
}

function unwrap(text: string): unknown {
  try {
    const inner: unknown = JSON.parse(text);
    return isObject(inner) ? inner : text;
  } catch {
    return text; // an ordinary string, which the caller reports
  }
}

/** Escapes raw control characters inside strings and doubles backslashes that start no valid escape. */
function repairStrings(text: string): string {
  return text.replace(/"(?:[^"\\]|\\[^])*"/g, (string) =>
    string
      .replace(/\\(["\\/bfnrt]|u[\da-f]{4})?/gi, (escape, valid?: string) => (valid === undefined ? "\\\\" : escape))
      .replace(/[\u0000-\u001f]/g, (char) => JSON.stringify(char).slice(1, -1)),
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function describe(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "an array" : `a ${typeof value}`;
}
