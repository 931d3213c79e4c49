/** Which values a schema's `type`, `const` and `enum` allow. */
import { toText, type JsonSchema } from "./json-value.ts";

export function typesOf(schema: JsonSchema): string[] {
  return [schema.type ?? []].flat() as string[];
}

/** Whether a value is of the type that a schema names, or one of them. */
export function isOfType({ type }: JsonSchema, value: unknown): boolean {
  const own = value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
  const types = Array.isArray(type) ? type : [type ?? own];
  return types.includes(own) || (types.includes("integer") && Number.isInteger(value));
}

/** Whether `const` and `enum` allow a value. A text is compared as it is, anything else as JSON. */
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
