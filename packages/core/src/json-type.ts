/** Checks of a schema's `type`, `const` and `enum`. */
import { toText, type JsonSchema } from "./json-value.ts";

export function typesOf(schema: JsonSchema): string[] {
  return [schema.type ?? []].flat() as string[];
}

/** Returns whether a value has the schema's type, or one of its types. */
export function isOfType({ type }: JsonSchema, value: unknown): boolean {
  const own = value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
  const types = Array.isArray(type) ? type : [type ?? own];
  return types.includes(own) || (types.includes("integer") && Number.isInteger(value));
}

/**
 * Returns whether `const` and `enum` allow a value. Compares strings directly and other values as
 * JSON.
 */
export function isAllowed(schema: JsonSchema, value: unknown): boolean {
  return (
    isAmong(schema.enum, value) && (schema.const === undefined || isAmong([schema.const], value))
  );
}

function isAmong(options: unknown, value: unknown): boolean {
  return (
    !Array.isArray(options) ||
    options.includes(value) ||
    (typeof value !== "string" && options.map(toText).includes(toText(value)))
  );
}
