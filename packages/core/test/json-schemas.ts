/** Random JSON Schemas and values that are similar enough for about half of the values to fit. */
import fc from "fast-check";
import type { JsonSchema } from "../src/schema.ts";

const names = fc.constantFrom("a", "b", "c", "__proto__", "constructor");
const numbers = fc.constantFrom(-1, 0, 0.3, 1, 1.5, 2, 3, 1e21);
const texts = fc.constantFrom("", "a", "ab", "b1", "é😀", "5", "true", "[1]");
const scalars = fc.oneof(fc.constantFrom(null, true, false), numbers, texts);
const types = fc.constantFrom("array", "boolean", "integer", "null", "number", "object", "string");
const limits = fc.integer({ min: 0, max: 3 });
const patterns = fc.constantFrom("^a", "[0-9]", "^.$", "b");

/** Values from the same alphabet as {@link schemas}. */
export const values: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    scalars,
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(names, tie("value"), { maxKeys: 3, noNullPrototype: true }),
  ),
})).value;

/**
 * Schemas with every supported keyword. A `$ref` points to the root's `$defs`, and only from a
 * place one level further down.
 */
export const schemas: fc.Arbitrary<JsonSchema | boolean> = fc.letrec<{
  schema: JsonSchema | boolean;
  child: JsonSchema | boolean;
}>((tie) => {
  const here = tie("schema");
  const child = tie("child");
  const several = fc.array(here, { minLength: 1, maxLength: 3 });
  const byName = fc.dictionary(names, child, { maxKeys: 3, noNullPrototype: true });
  const groups: Record<string, fc.Arbitrary<unknown>>[] = [
    { type: fc.oneof(types, fc.uniqueArray(types, { minLength: 1, maxLength: 3 })) },
    { enum: fc.array(fc.oneof(scalars, values), { minLength: 1, maxLength: 3 }), const: values },
    { minimum: numbers, maximum: numbers, exclusiveMinimum: numbers, exclusiveMaximum: numbers },
    { multipleOf: fc.constantFrom(0.1, 0.5, 1, 2) },
    { minLength: limits, maxLength: limits, pattern: patterns },
    { items: child, prefixItems: fc.array(child, { minLength: 1, maxLength: 2 }) },
    { minItems: limits, maxItems: limits, uniqueItems: fc.boolean() },
    { contains: child, minContains: limits, maxContains: limits },
    { properties: byName, required: fc.uniqueArray(names, { maxLength: 2 }) },
    { patternProperties: fc.dictionary(patterns, child, { maxKeys: 2, noNullPrototype: true }) },
    { properties: byName, additionalProperties: child },
    { minProperties: limits, maxProperties: limits, propertyNames: here },
    {
      dependentRequired: fc.dictionary(names, fc.uniqueArray(names, { maxLength: 2 }), {
        maxKeys: 2,
      }),
    },
    { dependentSchemas: fc.dictionary(names, here, { maxKeys: 2, noNullPrototype: true }) },
    { allOf: several },
    { anyOf: several },
    { oneOf: several },
    { not: here },
    { if: here, then: here, else: here }, // oxlint-disable-line unicorn/no-thenable
  ];
  const keywords = fc.oneof(...groups.map((group) => fc.record(group, { requiredKeys: [] })));
  const merged = fc.tuple(keywords, keywords).map((parts) => ({ ...parts[0], ...parts[1] }));
  return {
    schema: fc.oneof({ maxDepth: 3 }, fc.boolean(), { arbitrary: merged, weight: 9 }),
    child: fc.oneof({ maxDepth: 3 }, fc.constant({ $ref: "#/$defs/x" }), {
      arbitrary: tie("schema"),
      weight: 4,
    }),
  };
}).schema;

/** Values whose numbers survive a round trip through text. */
export const plainValues: fc.Arbitrary<unknown> = fc
  .jsonValue({ maxDepth: 4 })
  .map((value) =>
    rebuild(value, (part) => (typeof part === "number" ? Math.trunc(part % 1e6) / 8 || 0 : part)),
  );

/** The narrowest schema by type: it accepts only values of the form of `value`. */
export function schemaOf(value: unknown): JsonSchema {
  if (Array.isArray(value))
    return {
      type: "array",
      prefixItems: value.map(schemaOf),
      items: false,
      minItems: value.length,
    };
  if (typeof value !== "object" || value === null)
    return { type: value === null ? "null" : typeof value };
  const properties = Object.fromEntries(
    Object.entries(value).map(([name, part]) => [name, schemaOf(part)]),
  );
  return { type: "object", properties, required: Object.keys(value), additionalProperties: false };
}

/**
 * A value as a careless model writes it: every `step`th part other than strings and null becomes
 * its JSON text.
 */
export function mangle(value: unknown, step: number): unknown {
  let count = 0;
  return rebuild(value, (part) => {
    if (typeof part === "string" || part === null) return part;
    count += 1;
    return count % step === 0 ? JSON.stringify(part) : part;
  });
}

/** A copy with each part changed, from the leaves up. */
function rebuild(value: unknown, change: (part: unknown) => unknown): unknown {
  if (Array.isArray(value)) return change(value.map((part) => rebuild(part, change)));
  if (typeof value !== "object" || value === null) return change(value);
  return change(
    Object.fromEntries(Object.entries(value).map(([name, part]) => [name, rebuild(part, change)])),
  );
}
