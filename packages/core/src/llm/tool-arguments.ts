/**
 * Parses tool arguments from the text that the model wrote. Truncated text is never completed: a
 * call runs with exactly what the model wrote, or not at all.
 */
import { describe, isRecord, keepDigits, parseJson } from "../json-value.ts";

/** Not every JavaScript engine can serialise deeper values, and no tool schema needs them. */
const MAX_DEPTH = 1000;

export interface ParsedArguments {
  readonly arguments: Record<string, unknown>;
  /** Why the text is not a JSON object; absent when it is one. */
  readonly error?: string;
}

/**
 * Parses strictly first. If that fails, repairs raw control characters and invalid escapes inside
 * strings and parses again. Empty text and `null` give `{}`; an object that was encoded twice is
 * decoded twice. Numbers that JavaScript would round become strings of their digits.
 */
// Q052, Q150, Q048, Q148, Q051
export function parseToolArguments(text: string): ParsedArguments {
  if (text.trim() === "") return { arguments: {} };
  let value: unknown;
  try {
    value = JSON.parse(keepDigits(text));
  } catch (error) {
    value = parseJson(keepDigits(repairStrings(text).replace(/<\/tool_call>\s*$/, ""))); // Q054
    if (value === undefined)
      return {
        arguments: {},
        error: `The arguments are not valid JSON: ${(error as Error).message}`,
      };
  }
  const object = typeof value === "string" ? parseJson(keepDigits(value)) : (value ?? {});
  if (text.length > MAX_DEPTH && isDeeper(object, MAX_DEPTH))
    return { arguments: {}, error: `The arguments are nested deeper than ${MAX_DEPTH} levels.` };
  if (isRecord(object)) return { arguments: object };
  return { arguments: {}, error: `The arguments must be a JSON object, not ${describe(value)}.` };
}

/** Recurses at most `depth` levels, so it cannot overflow the stack. */
function isDeeper(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return depth === 0 || Object.values(value).some((part) => isDeeper(part, depth - 1));
}

/**
 * Escapes raw control characters inside strings, and doubles backslashes that start no valid
 * escape. Takes linear time for any input, including truncated text.
 */
export function repairStrings(text: string): string {
  let isInside = false;
  return text.replace(/"|\\(?:["\\/bfnrt]|u[\da-fA-F]{4})?|[\u0000-\u001f]/g, (piece) => {
    if (piece === '"') isInside = !isInside;
    else if (isInside && piece.length === 1) return JSON.stringify(piece).slice(1, -1);
    return piece;
  });
}
