/**
 * Looks through a schema before it is used: refuses what cannot be checked here, finds where each
 * `$ref` leads.
 */
import { toBowlineError } from "./errors.ts";
import { isRecord, type JsonSchema, asRecord, asText } from "./json-value.ts";

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
        if (key === "pattern") links.set(String(value), toRegExp(String(value)));
        if (key === "patternProperties")
          for (const pattern of Object.keys(asRecord(value))) links.set(pattern, toRegExp(pattern));
        const isMap =
          /^(?:\$defs|definitions|dependencies|dependentSchemas|(?:patternP|p)roperties)$/.test(
            key,
          );
        const children = isMap ? Object.values(asRecord(value)) : [value].flat();
        for (const child of /^(?:const|enum|default|examples)$/.test(key) ? [] : children)
          add(child, base);
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
  const [start, ...keys] = asText(ref).split("/");
  if (start === "#")
    return keys.reduce<unknown>((at, part) => {
      const key = decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
      return Object.hasOwn(Object(at) as object, key) ? (at as JsonSchema)[key] : undefined;
    }, base);
  const named = [...bases].find(([part, own]) => {
    const { $id, $anchor } = part as JsonSchema;
    return $id === ref || (own === base && `#${String($anchor)}` === ref);
  });
  return named?.[0];
}

function toRegExp(pattern: string): RegExp {
  try {
    return new RegExp(pattern, "u");
  } catch {
    return new RegExp(pattern);
  }
}
