/**
 * Looks through a schema before it is used: refuses what cannot be checked here, finds where each
 * `$ref` leads.
 */
import { toBowlineError } from "./errors.ts";
import { compilePattern } from "./pattern.ts";
import { isRecord, type JsonSchema, asRecord, asText } from "./json-value.ts";

/** Keywords that hold schemas by name, and those that hold no schema. */
const isMap = /^(?:\$defs|definitions|dependencies|dependentSchemas|(?:patternP|p)roperties)$/;
const isData = /^(?:const|enum|default|examples)$/;

/** What each schema with a `$ref` leads to, and the expression of each pattern. */
export type SchemaLinks = ReadonlyMap<unknown, unknown>;

const knownLinks = new WeakMap<object, SchemaLinks>();

/**
 * Throws `invalid_argument` if part of a schema cannot be checked here: a keyword, a `$ref` that
 * leads out of the schema or nowhere, a pattern that is none. `what` names the schema's owner.
 */
export function assertCheckable(schema: JsonSchema, what: string): void {
  linksOf(schema, `The parameters of ${what}`);
}

/**
 * Looks once through a schema: refuses what cannot be checked, and finds where each `$ref` leads.
 */
export function linksOf(root: unknown, what: string): SchemaLinks {
  const known = knownLinks.get(Object(root) as object);
  if (known) return known;
  const links = new Map<unknown, unknown>();
  // Each part, and the one that its pointers start from: a part with an `$id` is a schema of its
  // own. Grows while it is walked.
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
            `"${key}: true" cannot be checked: toJsonSchema() makes today's words of it`,
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
        throw new Error(`"$ref" to ${$ref} leads nowhere: ${remedy}`);
      links.set(part, target);
    }
  } catch (error) {
    throw toBowlineError(error, "invalid_argument", what);
  }
  knownLinks.set(Object(root) as object, links);
  return links;
}

/** What a `$ref` leads to: a pointer from the base, an `$anchor` there, or an `$id`. */
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

/** What a pointer such as `#/$defs/a` leads to from there; undefined where it leads nowhere. */
export function followPointer(root: JsonSchema, pointer: unknown): unknown {
  const [start, ...keys] = asText(pointer).split("/");
  if (start !== "#") return undefined;
  return keys.reduce<unknown>((at, part) => {
    const key = decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
    return Object.hasOwn(Object(at) as object, key) ? (at as JsonSchema)[key] : undefined;
  }, root);
}

/** The forms of draft 4 and OpenAPI 3.0 that such a text may have. */
const older = /"(?:nullable|exclusiveM(?:in|ax)imum)": ?(?:true|false)/;

/**
 * The schema in today's words: `exclusiveMaximum: true` beside a `maximum`, and the same of the
 * minimum, become one number; `nullable: true` becomes a type more, or a union with null.
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

/** Schemas by their names, of which one may be that of a keyword. */
function named(schemas: unknown): unknown {
  return Object.fromEntries(
    Object.entries(asRecord(schemas)).map(([name, part]) => [name, modern(part)]),
  );
}
