/** Building blocks for the schemas of methods and events. */
import type { JsonSchema } from "@bowline/core";

const MAX_TEXT = 32_000;

export interface Optional {
  readonly optional: JsonSchema;
}

/** Schemas for exactly the fields of T; optional fields are marked. */
export type Fields<T> = {
  readonly [K in keyof T]-?: Partial<Pick<T, K>> extends Pick<T, K> ? Optional : JsonSchema;
};

export function object<T>(fields: Fields<T>): JsonSchema {
  const entries = Object.entries(fields as Record<string, JsonSchema | Optional>);
  const isOptional = (field: JsonSchema | Optional): field is Optional => "optional" in field;
  return {
    type: "object",
    properties: Object.fromEntries(
      entries.map(([name, field]) => [name, isOptional(field) ? field.optional : field]),
    ),
    required: entries.flatMap(([name, field]) => (isOptional(field) ? [] : [name])),
    additionalProperties: false,
  };
}

export const maybe = (schema: JsonSchema): Optional => ({ optional: schema });
export const list = (items: JsonSchema): JsonSchema => ({ type: "array", items });
export const oneOf = (...values: readonly string[]): JsonSchema => ({
  type: "string",
  enum: values,
});

export const text: JsonSchema = { type: "string" };
export const flag: JsonSchema = { type: "boolean" };
export const number: JsonSchema = { type: "number" };
export const count: JsonSchema = { type: "integer", minimum: 0 };
export const seq: JsonSchema = { type: "integer", minimum: -1 };
export const anything: JsonSchema = {};
export const key: JsonSchema = { type: "string", minLength: 1, maxLength: 512 };
export const name: JsonSchema = { type: "string", minLength: 1, maxLength: 200 };
export const title: JsonSchema = { type: "string", minLength: 1, maxLength: 200 };
/** May be empty if attachments go with it, which `check.ts` checks. */
export const message: JsonSchema = { type: "string", maxLength: MAX_TEXT };
export const shortText: JsonSchema = { type: "string", maxLength: 2000 };
