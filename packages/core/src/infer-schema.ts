/**
 * The type of the values that a schema accepts. A Standard Schema declares its output type. The
 * type of a JSON Schema literal or a TypeBox schema follows from its keywords. A schema without a
 * literal type gives unchecked fields: see {@link UncheckedArguments}.
 */

/**
 * Arguments of a tool whose schema type is unknown. Their fields can be used unchecked. Only `any`
 * lets a list hold tools of known and unknown arguments. This is the only `any` in public types.
 */
// oxlint-disable-next-line typescript/no-explicit-any
export type UncheckedArguments = any;

/** The type of the arguments that `execute` receives for a schema of type `S`. */
export type InferSchema<S> = S extends { readonly "~standard": { readonly types?: infer T } }
  ? NonNullable<T> extends { readonly output: infer Output }
    ? Output
    : UncheckedArguments
  : S extends { readonly const: infer Value }
    ? Value
    : S extends { readonly enum: readonly (infer Value)[] }
      ? Value
      : S extends { readonly anyOf: readonly (infer Member)[] }
        ? InferSchema<Member>
        : S extends { readonly oneOf: readonly (infer Member)[] }
          ? InferSchema<Member>
          : S extends { readonly allOf: readonly [...infer Members] }
            ? InferAll<Members>
            : S extends { readonly type: infer Type }
              ? InferType<S, Type>
              : UncheckedArguments;

type InferAll<Members> = Members extends readonly [infer First, ...infer Rest]
  ? InferSchema<First> & InferAll<Rest>
  : unknown;

type InferType<S, Type> = Type extends readonly (infer Member)[]
  ? InferType<S, Member>
  : Type extends "string"
    ? string
    : Type extends "number" | "integer"
      ? number
      : Type extends "boolean"
        ? boolean
        : Type extends "null"
          ? null
          : Type extends "array"
            ? InferArray<S>
            : Type extends "object"
              ? InferObject<S>
              : UncheckedArguments;

/**
 * TypeBox writes a tuple as draft 7 does: a list of required `items` and `additionalItems: false`.
 */
type InferArray<S> = S extends { readonly items: infer Items }
  ? Items extends readonly unknown[]
    ? S extends { readonly minItems: Items["length"]; readonly additionalItems: false }
      ? { -readonly [I in keyof Items]: InferSchema<Items[I]> }
      : unknown[]
    : S extends { readonly prefixItems: unknown }
      ? unknown[]
      : InferSchema<Items>[]
  : unknown[];

type InferObject<S> = S extends { readonly properties: infer P }
  ? string extends keyof P
    ? UncheckedArguments
    : Simplify<
        { -readonly [K in RequiredKeys<S, P>]: InferSchema<P[K]> } & {
          -readonly [K in Exclude<keyof P, RequiredKeys<S, P>>]?: InferSchema<P[K]>;
        }
      >
  : S extends { readonly "~kind": "Record"; readonly patternProperties: infer P }
    ? Record<string, InferSchema<P[keyof P]>>
    : S extends { readonly additionalProperties: infer Rest extends object }
      ? Record<string, InferSchema<Rest>>
      : Record<string, unknown>;

/** TypeBox marks optional properties. JSON Schema lists the required ones. */
type RequiredKeys<S, P> = S extends { readonly "~kind": string }
  ? { [K in keyof P]: P[K] extends { readonly "~optional": true } ? never : K }[keyof P]
  : S extends { readonly required: readonly (infer Name)[] }
    ? Extract<keyof P, Name>
    : never;

type Simplify<T> = { [K in keyof T]: T[K] };
