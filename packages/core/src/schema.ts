/**
 * Schemas in three forms, one use: JSON Schema out for the wire, validation in before a tool runs. A TypeBox schema is JSON
 * Schema; zod and arktype are Standard Schemas that give their JSON Schema; valibot needs it beside ({@link withJsonSchema}).
 */
import { BowlineError, errorText } from "./errors.ts";
import { checkJson, type ValidationResult } from "./json-schema.ts";
import { describe, isRecord, joinPath, type JsonSchema } from "./json-value.ts";
import { assertCheckable } from "./schema-links.ts";

export type { JsonSchema } from "./json-value.ts";
export type { SchemaIssue, ValidationResult } from "./json-schema.ts";

/** The part of standardschema.dev that is used here. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly jsonSchema?: { readonly input: (options: { readonly target: string }) => Record<string, unknown> };
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

const jsonSchemas = new WeakMap<object, JsonSchema>();

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
 * The JSON Schema of an object, as every wire wants it (Q114, Q116). `what` names the schema's owner in the error: throws
 * `invalid_argument` when `schema` is no schema, cannot give its JSON Schema, or describes something other than an object.
 */
export function toJsonSchema(schema: unknown, what: string): JsonSchema {
  if (!isRecord(schema) && !isStandardSchema(schema)) throw refusal(what, `must be a schema, not ${describe(schema)}`);
  const known = jsonSchemas.get(schema);
  if (known !== undefined) return known;
  const { $schema: _, ...json } = isStandardSchema(schema) ? standardJson(schema, what) : schema;
  const { type, properties = {} } = json;
  if ((type ?? "object") !== "object") throw refusal(what, `must describe an object, not ${JSON.stringify(type)}`);
  // A union, a `$ref`, or properties that nothing is around.
  const [word] = Object.keys(json);
  if (type === undefined && json.properties === undefined && word !== undefined) {
    throw refusal(what, `must be an object at the top, with type and properties, not ${word}`);
  }
  const complete = { ...json, type: "object", properties };
  if (!isStandardSchema(schema)) assertCheckable(complete, what);
  jsonSchemas.set(schema, complete);
  return complete;
}

function refusal(what: string, why: string, cause?: unknown): BowlineError {
  return new BowlineError("invalid_argument", `The parameters of ${what} ${why}.`, { cause });
}

/**
 * Checks a value, and mends it if it does not fit and can be mended (see `checkJson`). Gives all problems at once. The value of
 * a Standard Schema is what that schema makes of it.
 */
export function validate(schema: unknown, value: unknown, what: string): ValidationResult | Promise<ValidationResult> {
  return isStandardSchema(schema)
    ? validateStandard(schema, value, what)
    : checkJson(toJsonSchema(schema, what), value);
}

async function validateStandard(schema: StandardSchema, value: unknown, what: string): Promise<ValidationResult> {
  const result = fromStandard(await schema["~standard"].validate(value));
  if (result.issues === undefined) return result;
  const mended = mend(schema, value, what);
  return mended === value ? result : fromStandard(await schema["~standard"].validate(mended));
}

/** The value as its JSON Schema accepts it; unchanged if there is none, or none that helps. */
function mend(schema: StandardSchema, value: unknown, what: string): unknown {
  try {
    const result = checkJson(toJsonSchema(schema, what), value);
    return result.issues === undefined ? result.value : value;
  } catch {
    return value; // The library can check what we cannot.
  }
}

function standardJson(schema: StandardSchema, what: string): JsonSchema {
  const { jsonSchema, vendor } = schema["~standard"];
  if (jsonSchema === undefined) {
    throw refusal(what, `need a JSON Schema: ${vendor} cannot give one; pass it as jsonSchema, or by withJsonSchema`);
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
      path: (path ?? []).map((segment) => (typeof segment === "object" ? segment.key : segment)).reduce(joinPath, ""),
      message,
    })),
  };
}
