/** What OpenAI's strict mode takes (Q117). */
import { asText, list, type JsonSchema } from "../json-value.ts";
import { mapParts } from "./schema-parts.ts";

const words =
  /^(?:type|title|description|enum|const|properties|required|additionalProperties|items|anyOf|\$ref|\$defs|pattern|format|multipleOf|(?:exclusiveM|m)(?:in|ax)imum|m(?:in|ax)Items)$/;
const formats = /^(?:date-time|time|date|duration|email|hostname|ipv4|ipv6|uuid)$/;

/** Whether the schema may be sent as strict: no other words, each object closed and all its properties required. */
export function isStrictSchema(schema: JsonSchema): boolean {
  const { type, properties, required, additionalProperties, items, pattern, format, $ref } = schema;
  const names = Object.keys(properties ?? {});
  const isObject = properties !== undefined || [type].flat().includes("object");
  if (isObject && (additionalProperties !== false || !names.every((name) => list(required).includes(name))))
    return false;
  if (type === "array" && items === undefined) return false;
  if (format !== undefined && !formats.test(asText(format))) return false;
  if (/\(\?<?[=!]/.test(asText(pattern))) return false; // it may not look around
  if ($ref !== undefined && Object.keys(schema).length > 1) return false;
  let strict = Object.keys(schema).every((word) => words.test(word));
  mapParts(schema, (part) => (strict &&= isStrictSchema(part)));
  return strict;
}
