/** Lets the output of a run be an array, an enum or any other value. */
import { BowlineError } from "../errors.ts";
import type { InferSchema } from "../infer-schema.ts";
import { checkJson } from "../json-schema.ts";
import { isRecord, type JsonSchema } from "../json-value.ts";
import {
  assertSchema,
  isStandardSchema,
  type StandardResult,
  type StandardSchema,
} from "../schema.ts";
import type { InferInput } from "./deep-partial.ts";

/** The property in which the model gives the value. */
export const WRAPPER = "value";

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
    assertSchema(json, "the output");
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
 * is not a schema, and for a JSON Schema that refers to its own root.
 */
export function anyOutput<const TSchema>(
  schema: TSchema,
): AnyOutput<InferInput<TSchema>, InferSchema<TSchema>> {
  return new AnyOutput(schema);
}

/** Returns the JSON Schema of an object whose one property has the schema. */
function wrapped(inner: unknown): JsonSchema {
  const given = isStandardSchema(inner)
    ? inner["~standard"].jsonSchema?.input({ target: "draft-2020-12" })
    : inner;
  if (!isRecord(given))
    throw new BowlineError(
      "invalid_argument",
      "The schema of the output must be a JSON Schema, or a Standard Schema that provides one (see withJsonSchema).",
    );
  const { $schema: _, $defs, definitions, ...schema } = given;
  if (JSON.stringify(given).includes('"$ref":"#"'))
    throw new BowlineError(
      "invalid_argument",
      'The schema of the output refers to its own root ("#"). Move the schema to "$defs" and refer to it there.',
    );
  return {
    type: "object",
    properties: { [WRAPPER]: schema },
    required: [WRAPPER],
    additionalProperties: false,
    // References begin at the root.
    ...($defs !== undefined && { $defs }),
    ...(definitions !== undefined && { definitions }),
  };
}

async function validateInner<TOutput>(
  inner: unknown,
  json: JsonSchema,
  value: unknown,
): Promise<StandardResult<TOutput>> {
  if (isStandardSchema(inner) && isRecord(value) && Object.hasOwn(value, WRAPPER)) {
    const result = await inner["~standard"].validate(value[WRAPPER]);
    return result.issues === undefined
      ? { value: result.value as TOutput }
      : {
          issues: result.issues.map((issue) => ({
            ...issue,
            path: [WRAPPER, ...(issue.path ?? [])],
          })),
        };
  }
  const result = checkJson(json, value);
  return result.issues === undefined
    ? { value: (result.value as Record<string, unknown>)[WRAPPER] as TOutput }
    : {
        issues: result.issues.map(({ path, message }) => ({
          message,
          path: path === "" ? [] : [path],
        })),
      };
}
