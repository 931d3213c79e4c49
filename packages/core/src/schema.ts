/**
 * Accepts schemas in three forms, writes them as JSON Schema for requests, and validates tool
 * arguments with them. A TypeBox schema is JSON Schema. The Standard Schemas of zod and arktype
 * provide their JSON Schema. For valibot, pass one with {@link withJsonSchema}.
 */
import { BowlineError, errorText } from "./errors.ts";
import { checkJson, issuesOf, type ValidationResult } from "./json-schema.ts";
import { describe, isRecord, joinPath, type JsonSchema } from "./json-value.ts";
import { assertCheckable, inTodaysWords } from "./schema-links.ts";

export type { JsonSchema } from "./json-value.ts";
export type { ValidationResult } from "./json-schema.ts";
export type { SchemaIssue } from "./schema-walk.ts";

/** The part of the Standard Schema interface (standardschema.dev) that this package uses. */
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

/**
 * Memoised JSON Schemas, each with its schema's text. A changed text means that the schema was
 * edited.
 */
const jsonSchemas = new WeakMap<object, { readonly json: JsonSchema; readonly text: string }>();

export function isStandardSchema(schema: unknown): schema is StandardSchema {
  const standard = (schema as Partial<StandardSchema> | null | undefined)?.["~standard"];
  return isRecord(standard) && "validate" in standard;
}

/**
 * Returns a copy of a Standard Schema that uses `jsonSchema` as its JSON Schema. For libraries that
 * cannot write one, such as valibot.
 */
export function withJsonSchema<Input, Output>(
  schema: StandardSchema<Input, Output>,
  jsonSchema: JsonSchema,
): StandardSchema<Input, Output> {
  return { "~standard": { ...schema["~standard"], jsonSchema: { input: () => jsonSchema } } };
}

/**
 * Returns the JSON Schema of an object in the form that every protocol accepts. Throws
 * `invalid_argument` when `schema` is not a schema, has no JSON Schema, or does not describe an
 * object. `what` names the schema's owner in the error.
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
  // Not every protocol accepts a union or a `$ref` at the top. A schema with no keywords is an
  // object without properties.
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
    return ""; // a cyclic schema has no text, and no request can carry it
  }
}

const part = { $ref: "#" };
const parts = { type: "array", items: part };
const named = { type: "object", additionalProperties: part };
const values = { type: "array" };

/**
 * The values that schema keywords may have. A keyword with another value would be ignored or would
 * reject everything.
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
 * Throws `invalid_argument` for every schema that {@link toJsonSchema} refuses, and for keywords
 * with invalid values, such as `type: "strng"`.
 */
export function assertSchema(schema: unknown, what: string): void {
  const json = toJsonSchema(schema, what);
  const [wrong] = sound.has(json) ? [] : issuesOf(metaSchema, json);
  if (wrong)
    throw refusal(what, `are not a valid JSON Schema: ${wrong.path || "$"}: ${wrong.message}`);
  sound.add(json);
}

function refusal(what: string, why: string, cause?: unknown): BowlineError {
  return new BowlineError("invalid_argument", `The parameters of ${what} ${why}.`, { cause });
}

/**
 * Checks a value and repairs common mistakes (see `checkJson`). Returns the value, or all issues at
 * once. With a Standard Schema, the value is the schema's output.
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
  // For a union, zod only reports "Invalid input". Our own check names the fields.
  return result.issues.some(({ message }) => message === "Invalid input") ? own : result;
}

/** Checks the value by the schema's JSON Schema. Accepts it when there is none. */
function checkOwn(schema: StandardSchema, value: unknown, what: string): ValidationResult {
  try {
    return checkJson(toJsonSchema(schema, what), value);
  } catch {
    return { value }; // The library can check schemas that this package cannot.
  }
}

function standardJson(schema: StandardSchema, what: string): JsonSchema {
  const { jsonSchema, vendor } = schema["~standard"];
  if (!jsonSchema) {
    throw refusal(
      what,
      `need a JSON Schema, which this ${vendor} schema does not provide (zod 4.2 does): pass one as jsonSchema, or use withJsonSchema`,
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
