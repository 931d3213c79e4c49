/**
 * Schemas in three forms, one use: JSON Schema out for the wire, validation in before a tool runs. A TypeBox schema is JSON
 * Schema; zod and arktype are Standard Schemas that give their JSON Schema; valibot needs it beside ({@link withJsonSchema}).
 */
import { Validator } from "@cfworker/json-schema";
import { BowlineError } from "./errors.ts";

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

export type JsonSchema = Record<string, unknown>;

/** One thing wrong with a value: where (`a.b[0]`, `` for the whole), and what. */
export interface SchemaIssue {
  readonly path: string;
  readonly message: string;
}

export type ValidationResult =
  | { readonly value: unknown; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

const jsonSchemas = new WeakMap<object, JsonSchema>();
const validators = new WeakMap<object, Validator>();

export function isStandardSchema(schema: unknown): schema is StandardSchema {
  if ((typeof schema !== "object" && typeof schema !== "function") || schema === null) return false;
  const standard = (schema as Record<string, unknown>)["~standard"];
  return typeof standard === "object" && standard !== null && "validate" in standard;
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
  if ((typeof schema !== "object" && typeof schema !== "function") || schema === null) {
    throw new BowlineError("invalid_argument", `The parameters of ${what} must be a schema, not ${describe(schema)}.`);
  }
  const known = jsonSchemas.get(schema);
  if (known !== undefined) return known;
  const { $schema: _, ...json } = isStandardSchema(schema) ? standardJson(schema, what) : (schema as JsonSchema);
  if (json.type !== undefined && json.type !== "object") {
    throw new BowlineError(
      "invalid_argument",
      `The parameters of ${what} must describe an object, not ${JSON.stringify(json.type)}.`,
    );
  }
  if (json.type === undefined && (json.anyOf ?? json.oneOf ?? json.allOf ?? json.$ref) !== undefined) {
    throw new BowlineError(
      "invalid_argument",
      `The parameters of ${what} must be one object at the top: model servers refuse anyOf, oneOf, allOf and $ref there.`,
    );
  }
  const complete = { ...json, type: "object", properties: json.properties ?? {} };
  jsonSchemas.set(schema, complete);
  return complete;
}

/** Checks a value. Gives all problems at once; the value of a Standard Schema is what that schema made of it. */
export function validate(schema: unknown, value: unknown, what: string): ValidationResult | Promise<ValidationResult> {
  if (!isStandardSchema(schema)) return validateJson(toJsonSchema(schema, what), value);
  const result = schema["~standard"].validate(value);
  return result instanceof Promise ? result.then(fromStandard) : fromStandard(result);
}

function standardJson(schema: StandardSchema, what: string): JsonSchema {
  const { jsonSchema, vendor } = schema["~standard"];
  if (jsonSchema === undefined) {
    throw new BowlineError(
      "invalid_argument",
      `The parameters of ${what}: a schema of ${vendor} cannot give its JSON Schema; pass one as jsonSchema.`,
    );
  }
  try {
    return jsonSchema.input({ target: "draft-2020-12" });
  } catch (cause) {
    throw new BowlineError(
      "invalid_argument",
      `The parameters of ${what} cannot be written as JSON Schema: ${(cause as Error).message}`,
      { cause },
    );
  }
}

function fromStandard(result: StandardResult<unknown>): ValidationResult {
  if (result.issues === undefined) return { value: result.value };
  return {
    issues: result.issues.map(({ message, path }) => ({
      path: formatPath((path ?? []).map((segment) => (typeof segment === "object" ? segment.key : segment))),
      message,
    })),
  };
}

function validateJson(schema: JsonSchema, value: unknown): ValidationResult {
  let validator = validators.get(schema);
  if (validator === undefined) validators.set(schema, (validator = new Validator(schema, "2020-12", false)));
  const { valid, errors } = validator.validate(value);
  if (valid) return { value };
  // The validator also reports each ancestor of a fault; only the fault itself helps.
  const leaves = errors.filter(({ keyword }) => !ancestorKeywords.has(keyword));
  return { issues: (leaves.length > 0 ? leaves : errors).map((error) => toIssue(error, value)) };
}

const ancestorKeywords = new Set([
  "properties",
  "items",
  "additionalProperties",
  "prefixItems",
  "$ref",
  "allOf",
  "patternProperties",
]);

function toIssue(
  { keyword, instanceLocation, error }: { keyword: string; instanceLocation: string; error: string },
  root: unknown,
): SchemaIssue {
  const segments = instanceLocation
    .replace(/^#\/?/, "")
    .split("/")
    .filter((part) => part !== "")
    .map(unescapePointer);
  if (keyword === "required") {
    const name = /required property "(.*)"/.exec(error)?.[1] ?? "";
    return { path: formatPath([...segments, name]), message: "is required" };
  }
  const path = formatPath(segments);
  if (keyword === "false") return { path, message: "is not expected" };
  if (keyword === "type") {
    const expected = /Expected "(.*)"/.exec(error)?.[1]?.replaceAll('", "', " or ") ?? "another type";
    return { path, message: `expected ${expected}, received ${describe(valueAt(root, segments))}` };
  }
  return { path, message: error };
}

function unescapePointer(part: string): string {
  return decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
}

function valueAt(root: unknown, segments: readonly string[]): unknown {
  return segments.reduce<unknown>((value, key) => (value as Record<string, unknown> | null | undefined)?.[key], root);
}

function formatPath(segments: readonly PropertyKey[]): string {
  let path = "";
  for (const segment of segments) {
    const key = String(segment);
    if (/^\d+$/.test(key)) path += `[${key}]`;
    else path += path === "" ? key : `.${key}`;
  }
  return path;
}

function describe(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "string")
    return `the string ${JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value)}`;
  if (typeof value === "number" || typeof value === "boolean") return `${typeof value} ${value}`;
  return value === undefined ? "nothing" : `a${typeof value === "object" ? "n" : ""} ${typeof value}`;
}
