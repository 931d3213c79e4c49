/** The types of values that are still arriving. */
import type { InferSchema } from "../infer-schema.ts";

/**
 * A value of which any part may be missing: each property of an object, and the last items of an
 * array.
 */
export type DeepPartial<T> = 0 extends 1 & T
  ? T
  : T extends readonly unknown[]
    ? number extends T["length"]
      ? DeepPartial<T[number]>[]
      : { -readonly [I in keyof T]?: DeepPartial<T[I]> }
    : T extends (...given: never[]) => unknown
      ? T
      : T extends object
        ? { -readonly [K in keyof T]?: DeepPartial<T[K]> }
        : T;

/**
 * The type of the values that a schema takes, before it converts them. A Standard Schema declares
 * it; for other schemas it is that of {@link InferSchema}.
 */
export type InferInput<S> = S extends {
  readonly "~standard": { readonly types?: infer T };
}
  ? NonNullable<T> extends { readonly input: infer Input }
    ? Input
    : InferSchema<S>
  : InferSchema<S>;

/** The type at a path of a value. Unknown where the type does not say. */
export type ValueAt<T, P extends readonly (string | number)[]> = P extends readonly [
  infer Key,
  ...infer Rest extends readonly (string | number)[],
]
  ? Key extends keyof NonNullable<T>
    ? ValueAt<NonNullable<T>[Key], Rest>
    : unknown
  : T;

/** The type of an item of an array. Unknown for other types. */
export type ItemOf<T> = NonNullable<T> extends readonly (infer Item)[] ? Item : unknown;
