/**
 * `output_config.format`: an answer held to a schema, of which the server takes a part of JSON
 * Schema only.
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
 * Throws `invalid_argument` for an object whose names are free: the server would have it always
 * empty.
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
      "The output's schema has an object with free names (additionalProperties, patternProperties), to which Anthropic holds " +
        'no answer: use a list of names and values, or compat.structuredOutput "none".',
    );
  }
  mapParts(schema, refuseFreeNames);
}

/** Has every object say that it has no other names, as the server wants. */
function close(schema: JsonSchema): JsonSchema {
  const isObject = "properties" in schema || [schema.type].flat().includes("object");
  return { ...mapParts(schema, close), ...(isObject && { additionalProperties: false }) };
}
