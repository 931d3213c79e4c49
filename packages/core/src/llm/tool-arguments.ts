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
  let result = "";
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const char = text[i] as string;
    if (!inString) {
      inString = char === '"';
      result += char;
    } else if (char === "\\") {
      const valid = /^\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/.exec(text.slice(i, i + 6))?.[0];
      result += valid ?? "\\\\";
      if (valid !== undefined) i += valid.length - 1;
    } else if (char < " ") {
      result += `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
    } else {
      inString = char !== '"';
      result += char;
    }
  }
  return result;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function describe(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "an array" : `a ${typeof value}`;
}
