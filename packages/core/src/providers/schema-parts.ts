/** Visits the schemas inside a schema. */
import { asRecord, isRecord, type JsonSchema } from "../json-value.ts";

const maps = /^(?:properties|patternProperties|\$defs|definitions|dependentSchemas)$/;
const plain = /^(?:const|enum|default|examples)$/;

/** Returns the schema with each direct subschema replaced. `true` and `false` stay. */
export function mapParts(schema: JsonSchema, change: (part: JsonSchema) => unknown): JsonSchema {
  const changed = (value: unknown): unknown => (isRecord(value) ? change(value) : value);
  return mapValues(schema, (value, word) => {
    if (plain.test(word)) return value;
    if (maps.test(word)) return mapValues(asRecord(value), changed);
    return Array.isArray(value) ? value.map(changed) : changed(value);
  });
}

function mapValues(
  record: JsonSchema,
  change: (value: unknown, key: string) => unknown,
): JsonSchema {
  return Object.fromEntries(
    Object.entries(record).map(([key, value]) => [key, change(value, key)]),
  );
}
