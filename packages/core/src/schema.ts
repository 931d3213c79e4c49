/**
 * Schemas in three forms, one use: JSON Schema out for the wire, validation in before a tool runs.
 * A TypeBox schema is JSON Schema; zod and arktype are Standard Schemas that give their JSON
 * Schema; valibot needs it beside ({@link withJsonSchema}).
 */
import { BowlineError, errorText } from "./errors.ts";
import { checkJson, issuesOf, type ValidationResult } from "./json-schema.ts";
import { describe, isRecord, joinPath, type JsonSchema } from "./json-value.ts";
import { assertCheckable, inTodaysWords } from "./schema-links.ts";

export type { JsonSchema } from "./json-value.ts";
export type { ValidationResult } from "./json-schema.ts";
export type { SchemaIssue } from "./schema-walk.ts";

/** The part of standardschema.dev that is used here. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly jsonSchema?: {
      readonly input: (options: { readonly target: string }) => Record<string, unknown>;
    };
  };
}

export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | {
      readonly issues: readonly {
        readonly message: string;
        readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
      }[];
    };

/** With the text of a schema as it was: one that was edited is another. */
const jsonSchemas = new WeakMap<object, { readonly json: JsonSchema; readonly text: string }>();

export function isStandardSchema(schema: unknown): schema is StandardSchema {
  const standard = (schema as Partial<StandardSchema> | null | undefined)?.["~standard"];
  return isRecord(standard) && "validate" in standard;
}

/** A Standard Schema that cannot give its JSON Schema, with one written by hand. */
export function withJsonSchema<Input, Output>(
  schema: StandardSchema<Input, Output>,
  jsonSchema: JsonSchema,
): StandardSchema<Input, Output> {
  return { "~standard": { ...schema["~standard"], jsonSchema: { input: () => jsonSchema } } };
}

/**
 * The JSON Schema of an object, as every wire wants it. `what` names the schema's
 * owner in the error: throws `invalid_argument` when `schema` is no schema, cannot give its JSON
 * Schema, or describes something other than an object.
 */
// Q114, Q116
export function toJsonSchema(schema: unknown, what: string): JsonSchema {
  if (!isRecord(schema) && !isStandardSchema(schema))
    throw refusal(what, `must be a schema, not ${describe(schema)}`);
  const text = isStandardSchema(schema) ? "" : textOf(schema);
  const known = jsonSchemas.get(schema);
  if (known?.text === text) return known.json;
  const given = isStandardSchema(schema) ? standardJson(schema, what) : schema;
  const { $schema: _, ...json } = inTodaysWords(given, text || textOf(given));
  const { properties, type = properties ? "object" : (Object.keys(json)[0] ?? "object") } = json;
  // Properties that nothing is around are none; a union or a `$ref` is no object that every wire
  // takes.
  if (type !== "object")
    throw refusal(
      what,
      `must describe an object at the top, with type and properties, not ${JSON.stringify(type)}`,
    );
  const complete = { ...json, type, properties: properties ?? {} };
  if (!isStandardSchema(schema)) assertCheckable(complete, what);
  jsonSchemas.set(schema, { json: complete, text });
  return complete;
}

function textOf(schema: JsonSchema): string {
  try {
    return JSON.stringify(schema);
  } catch {
    return ""; // one that contains itself is refused, or sent by nobody
  }
}

const part = { $ref: "#" };
const parts = { type: "array", items: part };
const named = { type: "object", additionalProperties: part };
const values = { type: "array" };

/**
 * What the keywords of tools' schemas hold; what they hold otherwise would be ignored, or nothing
 * would fit it.
 */
const metaSchema: JsonSchema = {
  type: ["object", "boolean"],
  properties: {
    $defs: named,
    additionalProperties: part,
    allOf: parts,
    anyOf: parts,
    definitions: named,
    enum: values,
    items: { anyOf: [part, parts] },
    oneOf: parts,
    properties: named,
    required: values,
    type: {
      type: ["string", "array"],
      items: { $ref: "#/properties/type" },
      pattern: "^(?:array|boolean|integer|null|number|object|string)$",
    },
  },
};

const sound = new WeakSet<object>();

/**
 * Throws for all that {@link toJsonSchema} refuses, and for keywords that hold what they cannot,
 * such as `type: "strng"`.
 */
export function assertSchema(schema: unknown, what: string): void {
  const json = toJsonSchema(schema, what);
  const [wrong] = sound.has(json) ? [] : issuesOf(metaSchema, json);
  if (wrong) throw refusal(what, `are no JSON Schema: ${wrong.path || "$"}: ${wrong.message}`);
  sound.add(json);
}

function refusal(what: string, why: string, cause?: unknown): BowlineError {
  return new BowlineError("invalid_argument", `The parameters of ${what} ${why}.`, { cause });
}

/**
 * Checks a value, and mends it if it does not fit and can be mended (see `checkJson`). Gives all
 * problems at once. The value of a Standard Schema is what that schema makes of it.
 */
export function validate(
  schema: unknown,
  value: unknown,
  what: string,
): ValidationResult | Promise<ValidationResult> {
  return isStandardSchema(schema)
    ? validateStandard(schema, value, what)
    : checkJson(toJsonSchema(schema, what), value);
}

async function validateStandard(
  schema: StandardSchema,
  value: unknown,
  what: string,
): Promise<ValidationResult> {
  const result = fromStandard(await schema["~standard"].validate(value));
  if (result.issues === undefined) return result;
  const own = checkOwn(schema, value, what);
  if (own.issues === undefined)
    return own.value === value
      ? result
      : fromStandard(await schema["~standard"].validate(own.value));
  // Zod says of a union no more than that none of its members fitted.
  return result.issues.some(({ message }) => message === "Invalid input") ? own : result;
}

/** By the JSON Schema; as if the value fitted where there is none. */
function checkOwn(schema: StandardSchema, value: unknown, what: string): ValidationResult {
  try {
    return checkJson(toJsonSchema(schema, what), value);
  } catch {
    return { value }; // The library can check what we cannot.
  }
}

function standardJson(schema: StandardSchema, what: string): JsonSchema {
  const { jsonSchema, vendor } = schema["~standard"];
  if (!jsonSchema) {
    throw refusal(
      what,
      `need a JSON Schema: this ${vendor} has none (zod 4.2 has); pass one as jsonSchema, or by withJsonSchema`,
    );
  }
  try {
    return jsonSchema.input({ target: "draft-2020-12" });
  } catch (error) {
    throw refusal(what, `cannot be written as JSON Schema: ${errorText(error)}`, error);
  }
}

function fromStandard(result: StandardResult<unknown>): ValidationResult {
  if (result.issues === undefined) return { value: result.value };
  return {
    issues: result.issues.map(({ message, path }) => ({
      path: (path ?? [])
        .map((segment) => (typeof segment === "object" ? segment.key : segment))
        .reduce(joinPath, ""),
      message,
    })),
  };
}
