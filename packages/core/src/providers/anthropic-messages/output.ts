/**
 * Encodes `output_config.format`, which forces an answer to match a schema. The server supports
 * only a part of JSON Schema.
 */
import { BowlineError } from "../../errors.ts";
import type { JsonSchema } from "../../json-value.ts";
import type { Model, OutputFormat } from "../../llm/model.ts";
import { adaptSchema } from "../adapt-schema.ts";
import { mapParts } from "../schema-parts.ts";

const keywords = (
  "$defs $ref definitions type title description enum const anyOf allOf items " +
  "properties required additionalProperties"
).split(" ");

/**
 * Returns the format. Throws `invalid_argument` for an object with arbitrary names, which the
 * server would always leave empty.
 */
export function encodeFormat({ schema }: OutputFormat, { compat }: Model): JsonSchema {
  refuseFreeNames(schema);
  const known = keywords.filter((word) => compat?.schemaKeywords?.includes(word) ?? true);
  return { type: "json_schema", schema: close(adaptSchema(schema, known)) };
}

function refuseFreeNames(schema: JsonSchema): void {
  const { additionalProperties = false, patternProperties } = schema;
  if (additionalProperties !== false || patternProperties !== undefined) {
    throw new BowlineError(
      "invalid_argument",
      "The output schema has an object with arbitrary names (additionalProperties or patternProperties), which Anthropic does " +
        'not support: use a list of names and values, or set compat.structuredOutput to "none".',
    );
  }
  mapParts(schema, refuseFreeNames);
}

/** Forbids additional properties in every object, as the server requires. */
function close(schema: JsonSchema): JsonSchema {
  const isObject = "properties" in schema || [schema.type].flat().includes("object");
  return { ...mapParts(schema, close), ...(isObject && { additionalProperties: false }) };
}
