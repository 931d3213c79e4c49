/**
 * Finds the places of a growing value for which the JSON Schema has a list of values (`enum`,
 * `const`). Places are memoised, so that each item of an array costs the same. Ignores `if`, `not`
 * and dependent schemas.
 */
import { isAllowed, isOfType } from "../json-type.ts";
import { asRecord, isRecord, list, type JsonSchema } from "../json-value.ts";
import { followPointer } from "../schema-links.ts";

/** More alternatives are not told apart: then any value is shown. */
const MAX_CHOICES = 64;

type Parts = readonly unknown[];
/** The schemas that led to one. A schema that refers to itself accepts any value. */
type Around = readonly JsonSchema[];

export class SchemaPosition {
  readonly #root: JsonSchema;
  /** The schema of this place, `true` or `false`. */
  readonly #schema: unknown;
  /** By name or index. All keys that the schema does not name share the place of -1. */
  readonly #places = new Map<string | number, SchemaPosition>();
  readonly #names = new Set<string>();
  /** The number of items that have a schema of their own. */
  #firsts = 0;
  #hasList = false;
  #holdsText = false;

  constructor(root: JsonSchema, schema: unknown = root) {
    this.#root = root;
    this.#schema = schema;
    this.#look(schema, new Set());
  }

  /** Whether a list of values contains a string. A string is then shown when it is complete. */
  get holdsText(): boolean {
    return this.#holdsText;
  }

  /** Returns whether a complete value may be shown here. */
  allows(value: string | number | boolean | null): boolean {
    return (
      !this.#hasList ||
      this.#accepts(this.#schema, (part) => isOfType(part, value) && isAllowed(part, value))
    );
  }

  /**
   * Returns whether an object or array may grow here. One that a list contains grows too: only
   * simple values are shown at once.
   */
  allowsContainer(isObject: boolean): boolean {
    const kind = { type: isObject ? "object" : "array" };
    const isFitting = (part: JsonSchema): boolean =>
      isOfType(part, isObject ? {} : []) &&
      (valuesOf(part)?.some((value) => isOfType(kind, value)) ?? true);
    return !this.#hasList || this.#accepts(this.#schema, isFitting);
  }

  /** Returns the place of a property or an item. */
  at(key: string | number): SchemaPosition {
    const isNamed = typeof key === "number" ? key < this.#firsts : this.#names.has(key);
    const name = isNamed ? key : -1;
    let place = this.#places.get(name);
    if (place === undefined) {
      place = new SchemaPosition(this.#root, this.#partAt(this.#schema, key));
      this.#places.set(name, place);
    }
    return place;
  }

  /** Notes the lists and names of a schema, and of those that it refers to and combines. */
  #look(schema: unknown, seen: Set<unknown>): void {
    if (!isRecord(schema) || seen.has(schema)) return;
    seen.add(schema);
    const values = valuesOf(schema);
    this.#hasList ||= values !== undefined;
    this.#holdsText ||= values?.some((value) => typeof value === "string") ?? false;
    for (const name of Object.keys(asRecord(schema.properties))) this.#names.add(name);
    this.#firsts = Math.max(this.#firsts, firstsOf(schema).length);
    for (const part of [this.#target(schema), ...combined(schema)].flat()) this.#look(part, seen);
  }

  /** Returns whether a schema accepts a value, if `own` says so of each schema's own keywords. */
  #accepts(schema: unknown, own: (part: JsonSchema) => boolean, around: Around = []): boolean {
    if (!isRecord(schema) || around.includes(schema)) return schema !== false;
    const inner = [...around, schema];
    const fits = (part: unknown): boolean => this.#accepts(part, own, inner);
    const [all, ...choices] = combined(schema);
    return (
      own(schema) &&
      fits(this.#target(schema)) &&
      all.every(fits) &&
      choices.every((choice) => choice.length === 0 || choice.some(fits))
    );
  }

  /** Returns the schema of a property or an item. False if the schema accepts no such thing. */
  #partAt(schema: unknown, key: string | number, around: Around = []): unknown {
    if (!isRecord(schema) || around.includes(schema)) return schema !== false;
    const inner = [...around, schema];
    const part = (of: unknown): unknown => this.#partAt(of, key, inner);
    const [all, ...choices] = combined(schema);
    const parts = [ownPart(schema, key), part(this.#target(schema)), ...all.map(part)];
    for (const choice of choices) if (choice.length > 0) parts.push(this.#anyOf(choice.map(part)));
    if (parts.includes(false)) return false;
    const allOf = this.#distinct(parts, "allOf").filter((one) => one !== true);
    return allOf.length > 1 ? { allOf } : (allOf[0] ?? true);
  }

  #anyOf(parts: Parts): unknown {
    const anyOf = this.#distinct(parts, "anyOf").filter((one) => one !== false);
    if (anyOf.includes(true) || anyOf.length > MAX_CHOICES) return true;
    return anyOf.length > 1 ? { anyOf } : (anyOf[0] ?? false);
  }

  /**
   * Returns each schema once: the target of one that is a reference alone, and the members of one
   * that is a list of the same kind alone. Otherwise a schema that refers to itself twice would
   * double with each level of the value.
   */
  #distinct(parts: Parts, kind: "allOf" | "anyOf"): unknown[] {
    const seen = new Set<unknown>();
    const found: unknown[] = [];
    const add = (part: unknown): void => {
      if (seen.has(part)) return;
      seen.add(part);
      const only = isRecord(part) && Object.keys(part).length === 1 ? part : undefined;
      const inner = only && "$ref" in only ? [this.#target(only)] : list(only?.[kind]);
      if (inner.length === 0) found.push(part);
      else inner.forEach(add);
    };
    parts.forEach(add);
    return parts.length > 0 && found.length === 0 ? [true] : found; // references in a circle
  }

  /** Returns the target of a reference, or `true`. */
  #target(schema: JsonSchema): unknown {
    return followPointer(this.#root, schema.$ref) ?? true;
  }
}

/** Returns the schemas that must all fit, and the lists of which one must. */
function combined({ allOf, anyOf, oneOf }: JsonSchema): [Parts, Parts, Parts] {
  return [list(allOf), list(anyOf), list(oneOf)];
}

function valuesOf(schema: JsonSchema): readonly unknown[] | undefined {
  if ("const" in schema) return [schema.const];
  return Array.isArray(schema.enum) ? schema.enum : undefined;
}

function firstsOf({ prefixItems, items }: JsonSchema): readonly unknown[] {
  return Array.isArray(items) ? items : list(prefixItems);
}

/** Returns what the schema's own keywords say about a property or an item. */
function ownPart(schema: JsonSchema, key: string | number): unknown {
  if (!isOfType(schema, typeof key === "number" ? [] : {})) return false;
  if (typeof key === "number") {
    const first = firstsOf(schema);
    const { items, additionalItems } = schema;
    return (
      (key < first.length ? first[key] : Array.isArray(items) ? additionalItems : items) ?? true
    );
  }
  const { patternProperties, additionalProperties = true } = schema;
  const properties = asRecord(schema.properties);
  if (Object.hasOwn(properties, key)) return properties[key];
  // Patterns are not compared with the name: any of them may match, or none.
  const patterns = Object.values(asRecord(patternProperties));
  return patterns.length > 0 ? true : additionalProperties;
}
