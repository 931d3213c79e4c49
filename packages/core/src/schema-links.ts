/**
 * Inspects a schema before its first use: refuses unsupported keywords and resolves each `$ref`.
 */
import { toBowlineError } from "./errors.ts";
import { compilePattern } from "./pattern.ts";
import { isRecord, type JsonSchema, asRecord, asText } from "./json-value.ts";

/**
 * `isMap`: keywords that map names to schemas. `isData`: keywords that contain data, not schemas.
 */
const isMap = /^(?:\$defs|definitions|dependencies|dependentSchemas|(?:patternP|p)roperties)$/;
const isData = /^(?:const|enum|default|examples)$/;

/** The target of each schema with a `$ref`, and the compiled form of each pattern. */
export type SchemaLinks = ReadonlyMap<unknown, unknown>;

const knownLinks = new WeakMap<object, SchemaLinks>();

/**
 * Throws `invalid_argument` for an unsupported keyword, an invalid pattern, or a `$ref` that cannot
 * be resolved within the schema. `what` names the schema's owner in the error.
 */
export function assertCheckable(schema: JsonSchema, what: string): void {
  linksOf(schema, `The parameters of ${what}`);
}

/**
 * Returns the resolved links of a schema, memoised by object. Throws as {@link assertCheckable}
 * does.
 */
export function linksOf(root: unknown, what: string): SchemaLinks {
  const known = knownLinks.get(Object(root) as object);
  if (known) return known;
  const links = new Map<unknown, unknown>();
  // Maps each part to the base of its pointers. A part with an `$id` is its own base. The map grows
  // during the walk.
  const bases = new Map<unknown, JsonSchema>();
  const add = (part: unknown, base: JsonSchema): void => {
    if (isRecord(part))
      bases.set(part, typeof part.$id === "string" && !part.$id.startsWith("#") ? part : base);
  };
  const remedy = "use a Standard Schema library for it";
  try {
    add(root, asRecord(root));
    for (const [part, base] of bases) {
      for (const [key, value] of Object.entries(part as JsonSchema)) {
        if (/^(?:unevaluated(?:Items|Properties)|\$(?:dynamic|recursive)Ref)$/.test(key))
          throw new Error(`"${key}" cannot be checked: ${remedy}`);
        if (value === true && /^(?:nullable|exclusiveM(?:in|ax)imum)$/.test(key))
          throw new Error(
            `"${key}: true" cannot be checked: convert the schema with toJsonSchema()`,
          );
        if (key === "pattern") links.set(value, compilePattern(String(value)));
        if (key === "patternProperties")
          for (const pattern of Object.keys(asRecord(value)))
            links.set(pattern, compilePattern(pattern));
        const children = isMap.test(key) ? Object.values(asRecord(value)) : [value].flat();
        for (const child of isData.test(key) ? [] : children) add(child, base);
      }
    }
    for (const [part, base] of bases) {
      const { $ref } = part as { readonly $ref?: string };
      if ($ref === undefined) continue;
      const target = resolveRef($ref, base, bases);
      if (typeof target !== "boolean" && !bases.has(target))
        throw new Error(`"$ref" to ${$ref} cannot be resolved: ${remedy}`);
      links.set(part, target);
    }
  } catch (error) {
    throw toBowlineError(error, "invalid_argument", what);
  }
  knownLinks.set(Object(root) as object, links);
  return links;
}

/** Resolves a `$ref`: a pointer from the base, an `$anchor` of the base, or an `$id`. */
function resolveRef(
  ref: unknown,
  base: JsonSchema,
  bases: ReadonlyMap<unknown, JsonSchema>,
): unknown {
  const isMeant = ([part, own]: [unknown, JsonSchema]): boolean => {
    const { $id, $anchor } = part as JsonSchema;
    return $id === ref || (own === base && `#${String($anchor)}` === ref);
  };
  return followPointer(base, ref) ?? [...bases].find(isMeant)?.[0];
}

/** Returns the value at a JSON pointer such as `#/$defs/a`, or undefined. */
export function followPointer(root: JsonSchema, pointer: unknown): unknown {
  const [start, ...keys] = asText(pointer).split("/");
  if (start !== "#") return undefined;
  return keys.reduce<unknown>((at, part) => {
    const key = decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
    return Object.hasOwn(Object(at) as object, key) ? (at as JsonSchema)[key] : undefined;
  }, root);
}

/** Matches keywords of draft 4 and OpenAPI 3.0 in a schema's text. */
const older = /"(?:nullable|exclusiveM(?:in|ax)imum)": ?(?:true|false)/;

/**
 * Converts draft 4 and OpenAPI 3.0 keywords to draft 2020-12. A boolean `exclusiveMaximum` or
 * `exclusiveMinimum` and its limit become one number. `nullable: true` adds the type "null", or
 * makes a union with null.
 */
export function inTodaysWords(schema: JsonSchema, text: string): JsonSchema {
  return older.test(text) ? (modern(schema) as JsonSchema) : schema;
}

function modern(given: unknown): unknown {
  if (Array.isArray(given)) return given.map(modern);
  if (!isRecord(given)) return given;
  const schema: JsonSchema = {};
  for (const [key, value] of Object.entries(given))
    schema[key] = isData.test(key) ? value : isMap.test(key) ? named(value) : modern(value);
  for (const [limit, exclusive] of limits) {
    if (typeof schema[exclusive] !== "boolean") continue;
    if (schema[exclusive] && schema[limit] !== undefined) {
      schema[exclusive] = schema[limit];
      delete schema[limit];
    } else delete schema[exclusive];
  }
  const { nullable, ...rest } = schema;
  if (typeof nullable !== "boolean") return schema;
  if (!nullable) return rest;
  const isUnion = ["$ref", "const", "enum", "allOf", "anyOf", "oneOf"].some((word) => word in rest);
  if (rest.type === undefined || isUnion) return { anyOf: [rest, { type: "null" }] };
  return { ...rest, type: [rest.type, "null"].flat() };
}

const limits = [
  ["minimum", "exclusiveMinimum"],
  ["maximum", "exclusiveMaximum"],
] as const;

/** Converts a map of schemas. Its names are not keywords, even if they look like one. */
function named(schemas: unknown): unknown {
  return Object.fromEntries(
    Object.entries(asRecord(schemas)).map(([name, part]) => [name, modern(part)]),
  );
}
