/**
 * Adapts a schema to the keywords that a server accepts, and prepares structured output for
 * OpenAI's wires.
 */
// Q115
import { asText, defined, isRecord, list, type JsonSchema } from "../json-value.ts";
import type { Tool } from "../llm/message.ts";
import type { Model, StreamOptions } from "../llm/model.ts";
import { supportsOutput } from "../protocols.ts";
import { toJsonSchema } from "../schema.ts";
import { followPointer } from "../schema-links.ts";
import { mapParts } from "./schema-parts.ts";
import { toWireName } from "./tool-names.ts";
import { toWireJson } from "./wire-json.ts";

/**
 * Rewrites the schema so that it uses `keywords` only; returns it unchanged without them. Other
 * keywords move to the description, where the model still reads them. The result accepts every
 * value that the original accepts and possibly more, so validate answers against the original. A
 * part that contains itself becomes any value of its type.
 */
export function adaptSchema(schema: JsonSchema, keywords?: readonly string[]): JsonSchema {
  if (keywords === undefined) return schema;
  const takes = (word: string): boolean => keywords.includes(word);
  return adapt(schema, []);

  function adapt(part: JsonSchema, around: readonly JsonSchema[]): JsonSchema {
    const target = takes("$ref") ? undefined : targetOf(schema, part.$ref);
    if (target !== undefined && around.includes(target))
      return leave(defined({ type: target.type }), takes);
    const left = leave({ ...target, ...part }, takes);
    return mapParts(left, (inner) =>
      adapt(inner, target === undefined ? around : [...around, target]),
    );
  }
}

/**
 * Returns the schema of a tool's arguments in the form that the model's server accepts, and whether
 * the server should hold the arguments to it.
 */
// Q117
export function toolSchema(
  { name, parameters: given, strict }: Tool,
  model: Model,
): { readonly parameters: JsonSchema; readonly strict: boolean } {
  const parameters = adaptSchema(
    toJsonSchema(given, `tool "${name}"`),
    model.compat?.schemaKeywords,
  );
  return {
    parameters,
    strict: strict === true && supportsOutput(model) && isStrictSchema(parameters),
  };
}

/**
 * Returns the fields of a structured output, or undefined if the call or the model has none.
 * `strict` is always set; by default it is true if the schema qualifies.
 */
export function encodeOutput(
  model: Model,
  { output }: StreamOptions,
  withTools: boolean,
): { readonly name: string; readonly schema: JsonSchema; readonly strict: boolean } | undefined {
  if (output === undefined || !supportsOutput(model, withTools)) return undefined;
  const schema = adaptSchema(output.schema, model.compat?.schemaKeywords);
  const name = toWireName(output.name ?? "answer", 64);
  return { name, schema, strict: output.strict ?? isStrictSchema(schema) };
}

const words =
  /^(?:type|title|description|enum|const|properties|required|additionalProperties|items|anyOf|\$ref|\$defs|pattern|format|multipleOf|(?:exclusiveM|m)(?:in|ax)imum|m(?:in|ax)Items)$/;
const formats = /^(?:date-time|time|date|duration|email|hostname|ipv4|ipv6|uuid)$/;

/**
 * Returns whether OpenAI accepts the schema in strict mode: known keywords only, each object
 * closed, and all its properties required.
 */
// Q117
export function isStrictSchema(schema: JsonSchema): boolean {
  const { type, properties, required, additionalProperties, items, pattern, format, $ref } = schema;
  const names = Object.keys(properties ?? {});
  const isObject = properties !== undefined || [type].flat().includes("object");
  if (
    isObject &&
    (additionalProperties !== false || !names.every((name) => list(required).includes(name)))
  )
    return false;
  if (type === "array" && items === undefined) return false;
  if (format !== undefined && !formats.test(asText(format))) return false;
  if (/\(\?<?[=!]/.test(asText(pattern))) return false; // OpenAI rejects lookaround
  if ($ref !== undefined && Object.keys(schema).length > 1) return false;
  let strict = Object.keys(schema).every((word) => words.test(word));
  mapParts(schema, (part) => (strict &&= isStrictSchema(part)));
  return strict;
}

function leave(schema: JsonSchema, takes: (word: string) => boolean): JsonSchema {
  const left: JsonSchema = {};
  const said: string[] = [];
  for (const [word, value] of Object.entries({
    ...inOtherWords(schema, takes),
    ...schema,
    ...widened(schema, takes),
  })) {
    if (!takes(word)) {
      if (word in schema && !/^(?:\$|definitions$)/.test(word))
        said.push(`${word}: ${toWireJson(value)}`);
    } else if (value !== undefined) left[word] = value;
  }
  if (said.length > 0 && takes("description"))
    left.description = [left.description, `(${said.join("; ")})`].join(" ").trim();
  return left;
}

/** Returns the nearest equivalents of keywords that the server does not accept. */
function inOtherWords(schema: JsonSchema, takes: (word: string) => boolean): JsonSchema {
  const { const: value, oneOf } = schema;
  const type = Array.isArray(value) ? "array" : value === null ? "null" : typeof value;
  return {
    ...("const" in schema && !takes("const") && { type, enum: [value] }),
    ...("oneOf" in schema && !takes("oneOf") && { anyOf: oneOf }),
  };
}

/**
 * Relaxes keywords that would reject too much without a neighbour that the server does not accept.
 */
function widened(schema: JsonSchema, takes: (word: string) => boolean): JsonSchema {
  const { prefixItems, items } = schema;
  const parts = [...list(prefixItems), ...(items === false ? [] : [items])];
  return {
    ...("prefixItems" in schema &&
      !takes("prefixItems") && { items: parts.every(isRecord) ? { anyOf: parts } : undefined }),
    ...("patternProperties" in schema &&
      !takes("patternProperties") && { additionalProperties: undefined }),
  };
}

function targetOf(root: JsonSchema, ref: unknown): JsonSchema | undefined {
  const target = followPointer(root, ref);
  return isRecord(target) ? target : undefined;
}
