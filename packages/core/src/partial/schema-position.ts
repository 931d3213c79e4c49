/**
 * What a JSON Schema says about the places of a growing value: which have a fixed list of values.
 * Places are memoised, so that each item of an array costs the same.
 */
import { isAllowed, isOfType } from "../json-type.ts";
import { asRecord, isRecord, list, type JsonSchema } from "../json-value.ts";
import { followPointer } from "../schema-links.ts";

export class SchemaPosition {
  readonly #root: JsonSchema;
  /**
   * The schemas of this place, with those that they refer to or combine. The value says whether the
   * schema accepts a value alone, unlike a part of `allOf` and a schema that only combines others.
   */
  readonly #schemas = new Map<JsonSchema, boolean>();
  readonly #places = new Map<string | number, SchemaPosition>();
  /** The schemas that decide whether a value fits. Empty if no list of values is known. */
  readonly #judges: readonly JsonSchema[];
  /** Whether a list of values contains a string. A string is then shown when it is complete. */
  readonly holdsText: boolean;

  constructor(root: JsonSchema, schemas: readonly unknown[] = [root]) {
    this.#root = root;
    for (const schema of schemas) this.#add(schema, true);
    const known = [...this.#schemas.keys()];
    this.#judges = known.some(hasValues)
      ? known.filter((schema) => hasValues(schema) || this.#schemas.get(schema) === true)
      : [];
    this.holdsText = known.flatMap(valuesOf).some((value) => typeof value === "string");
  }

  /** Returns whether a complete value may be shown here. */
  allows(value: string | number | boolean | null): boolean {
    const judges = this.#judges;
    return (
      judges.length === 0 ||
      judges.some((schema) => isOfType(schema, value) && isAllowed(schema, value))
    );
  }

  /** Returns whether an object or array may grow here. One from a list of values may not. */
  allowsContainer(isObject: boolean): boolean {
    const judges = this.#judges;
    const kind = isObject ? {} : [];
    return (
      judges.length === 0 || judges.some((schema) => !hasValues(schema) && isOfType(schema, kind))
    );
  }

  /** Returns the place of a property or an item. */
  at(key: string | number): SchemaPosition {
    const name = this.#isNamed(key) ? key : -1;
    let place = this.#places.get(name);
    if (place === undefined) {
      const parts = [...this.#schemas].flatMap(([schema, isAlone]) => {
        const found = partsAt(schema, key);
        return found.length === 0 && isAlone && isOfType(schema, typeof key === "number" ? [] : {})
          ? [{}] // says nothing about it: any value fits
          : found;
      });
      place = new SchemaPosition(this.#root, parts);
      this.#places.set(name, place);
    }
    return place;
  }

  /** Returns whether a schema names this key. All other keys share one place. */
  #isNamed(key: string | number): boolean {
    return [...this.#schemas.keys()].some((schema) =>
      typeof key === "number"
        ? key < Math.max(list(schema.prefixItems).length, list(schema.items).length)
        : Object.hasOwn(asRecord(schema.properties), key),
    );
  }

  #add(schema: unknown, isAlone: boolean): void {
    if (!isRecord(schema) || this.#schemas.has(schema)) return;
    const { $ref, anyOf, oneOf, allOf, then, else: otherwise } = schema;
    const target = followPointer(this.#root, $ref);
    const choices = [target, ...list(anyOf), ...list(oneOf), then, otherwise].filter(isRecord);
    const isPlain = choices.length === 0 && allOf === undefined;
    this.#schemas.set(schema, isAlone && isPlain);
    for (const choice of choices) this.#add(choice, isAlone);
    for (const part of list(allOf)) this.#add(part, false);
  }
}

function hasValues(schema: JsonSchema): boolean {
  return "const" in schema || "enum" in schema;
}

function valuesOf(schema: JsonSchema): readonly unknown[] {
  return "const" in schema ? [schema.const] : list(schema.enum);
}

/** Returns what a schema says about a property or an item. */
function partsAt(schema: JsonSchema, key: string | number): readonly unknown[] {
  const { prefixItems, items, additionalItems, patternProperties, additionalProperties } = schema;
  if (typeof key === "string") {
    const { properties } = schema;
    // Any pattern may match: a place may then have more values than one of them allows.
    const parts = Object.values(asRecord(patternProperties));
    if (Object.hasOwn(asRecord(properties), key)) parts.push(asRecord(properties)[key]);
    else parts.push(additionalProperties);
    return parts.filter((part) => part !== undefined).map(orAny);
  }
  const first = Array.isArray(items) ? items : list(prefixItems);
  const part: unknown =
    key < first.length ? first[key] : Array.isArray(items) ? additionalItems : items;
  return part === undefined ? [] : [orAny(part)];
}

/** The schema `true` accepts any value. */
function orAny(schema: unknown): unknown {
  return schema === true ? {} : schema;
}
