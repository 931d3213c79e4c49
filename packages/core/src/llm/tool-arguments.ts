/** Tool arguments, from the text a model wrote. Truncated text is never completed: a call runs on what was said, whole, or not at all. */
import { describe, isRecord } from "../json-value.ts";

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
      value = JSON.parse(repairStrings(text).replace(/\s*<\/tool_call>\s*$/, "")); // Q054
    } catch {
      return { arguments: {}, error: `The arguments are not valid JSON: ${(error as Error).message}` };
    }
  }
  if (typeof value === "string") value = unwrap(value);
  if (isRecord(value)) return { arguments: value };
  return { arguments: {}, error: `The arguments must be a JSON object, not ${describe(value)}.` };
}

function unwrap(text: string): unknown {
  try {
    const inner: unknown = JSON.parse(text);
    return isRecord(inner) ? inner : text;
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
