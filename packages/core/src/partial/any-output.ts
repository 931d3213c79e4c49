/** Lets the output of a run be an array, an enum or any other value. */
import { BowlineError, errorText } from "../errors.ts";
import type { InferSchema } from "../infer-schema.ts";
import { asRecord, isRecord, type JsonSchema } from "../json-value.ts";
import {
  assertSchema,
  isStandardSchema,
  validate,
  type StandardResult,
  type StandardSchema,
} from "../schema.ts";
import type { InferInput } from "./deep-partial.ts";

/** The property in which the model gives the value. */
export const WRAPPER = "value";
const OWNER = "the output";

/** The schema that {@link anyOutput} returns: an object around the value for the model alone. */
export class AnyOutput<TInput = unknown, TOutput = TInput> implements StandardSchema<
  { readonly value: TInput },
  TOutput
> {
  readonly "~standard": Required<StandardSchema<{ readonly value: TInput }, TOutput>["~standard"]>;
  /** The schema of the value itself. */
  readonly inner: unknown;

  /** Throws `invalid_argument` for what is not a schema. */
  constructor(inner: unknown) {
    const json = wrapped(inner);
    assertSchema(json, OWNER);
    this.inner = inner;
    this["~standard"] = {
      version: 1,
      vendor: "bowline",
      types: undefined,
      jsonSchema: { input: () => json },
      validate: (value) => validateInner<TOutput>(inner, json, value),
    };
  }
}

/**
 * Returns a schema for the `output` of a run that is not an object: an array, an enum, a string.
 * The model gives the value as the property `value` of an object, and the run's `output` is the
 * value alone. Takes the schemas that a tool takes, of any type. Throws `invalid_argument` for what
 * is not a schema.
 */
export function anyOutput<const TSchema>(
  schema: TSchema,
): AnyOutput<InferInput<TSchema>, InferSchema<TSchema>> {
  return new AnyOutput(schema);
}

/** Returns the JSON Schema of an object whose one property has the schema. */
function wrapped(inner: unknown): JsonSchema {
  const { $schema: _, $defs, definitions, ...schema } = jsonOf(inner);
  const defs = { ...asRecord($defs) };
  // References begin at the root. One to the root itself becomes one to a definition.
  let root = WRAPPER;
  while (root in defs) root += "_";
  const text = JSON.stringify({ schema, defs, definitions });
  const moved = text.replaceAll('"$ref":"#"', `"$ref":"#/$defs/${root}"`);
  const parts = JSON.parse(moved) as { schema: JsonSchema; defs: JsonSchema };
  if (moved !== text) parts.defs[root] = parts.schema;
  return {
    type: "object",
    properties: { [WRAPPER]: moved === text ? parts.schema : { $ref: `#/$defs/${root}` } },
    required: [WRAPPER],
    additionalProperties: false,
    ...(Object.keys(parts.defs).length > 0 && { $defs: parts.defs }),
    ...("definitions" in parts && { definitions: parts.definitions }),
  };
}

function jsonOf(inner: unknown): JsonSchema {
  if (!isStandardSchema(inner) && isRecord(inner)) return inner;
  const { jsonSchema } = isStandardSchema(inner) ? inner["~standard"] : {};
  if (jsonSchema === undefined)
    throw refusal("must be a JSON Schema, or a Standard Schema that provides one (withJsonSchema)");
  try {
    return jsonSchema.input({ target: "draft-2020-12" });
  } catch (error) {
    throw refusal(`cannot be written as JSON Schema: ${errorText(error)}`, error);
  }
}

function refusal(why: string, cause?: unknown): BowlineError {
  return new BowlineError("invalid_argument", `The schema of the output ${why}.`, { cause });
}

async function validateInner<TOutput>(
  inner: unknown,
  json: JsonSchema,
  value: unknown,
): Promise<StandardResult<TOutput>> {
  if (isStandardSchema(inner) && isRecord(value) && Object.hasOwn(value, WRAPPER)) {
    const result = await inner["~standard"].validate(value[WRAPPER]);
    if (result.issues === undefined) return { value: result.value as TOutput };
    return {
      issues: result.issues.map((issue) => ({ ...issue, path: [WRAPPER, ...(issue.path ?? [])] })),
    };
  }
  const result = await validate(json, value, OWNER);
  if (result.issues === undefined) return { value: asRecord(result.value)[WRAPPER] as TOutput };
  return { issues: result.issues.map(({ path, message }) => ({ message, path: [path] })) };
}
