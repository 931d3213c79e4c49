/** The state of one check of a value: the current path and the issues so far. */
import { asRecord, describe, joinPath, list, toText, type JsonSchema } from "./json-value.ts";
import { typesOf } from "./json-type.ts";
import type { SchemaLinks } from "./schema-links.ts";

/** One problem of a value. `path` is like `a.b[0]`, or empty for the whole value. */
export interface SchemaIssue {
  readonly path: string;
  readonly message: string;
}

/**
 * The state of one check. `path` has one element per nested schema, undefined where the schema
 * applies to the same value.
 */
export interface Walk {
  readonly links: SchemaLinks;
  readonly mend: boolean;
  readonly issues: SchemaIssue[];
  readonly path: (PropertyKey | undefined)[];
  steps: number;
  /**
   * Memoised results of separate visits, by schema and value: first without repairs, then with
   * repairs.
   */
  readonly known: readonly [Sides, Sides];
}

/** The result of a separate visit: the value, and its issues. */
export type Side = readonly [made: unknown, found: SchemaIssue[]];
type Sides = Map<unknown, Map<unknown, Side>>;

export function fail(walk: Walk, message: string, key?: PropertyKey): void {
  const keys = [...walk.path, key].filter((part) => part !== undefined);
  walk.issues.push({ path: keys.reduce(joinPath, ""), message });
}

export function expect(
  walk: Walk,
  value: unknown,
  expected: string,
  received: string | number = describe(value),
): void {
  fail(walk, `expected ${expected}, received ${received}`);
}

export function expectOneOf(walk: Walk, schemas: readonly unknown[], value: unknown): unknown {
  fail(walk, `expected one of: ${summarize(walk, schemas)}; received ${describe(value)}`);
  return value;
}

/** Checks a size against a minimum and a maximum. */
export function bound(walk: Walk, size: number, low: unknown, high: unknown, unit = ""): void {
  const s = unit && "s";
  if (size < (low as number))
    expect(walk, size, `at least ${low as number}${unit}${low === 1 ? "" : s}`, size);
  if (size > (high as number))
    expect(walk, size, `at most ${high as number}${unit}${high === 1 ? "" : s}`, size);
}

/** Returns the schema that a `$ref` resolves to, or the schema itself. */
export function target(walk: Walk, schema: unknown): JsonSchema {
  return asRecord(walk.links.get(schema) ?? schema);
}

/** Describes schemas for an error message, in a few words each. */
export function summarize(walk: Walk, schemas: readonly unknown[]): string {
  const summaries = schemas.map((given) => {
    const schema = target(walk, given);
    const options = schema.const === undefined ? schema.enum : [schema.const];
    if (Array.isArray(options)) return options.slice(0, 20).map(toText).join(", ");
    const fields = list(schema.required).map((name) => {
      const only = asRecord(asRecord(schema.properties)[name as string]).const;
      return only === undefined ? name : `${name as string} ${toText(only)}`;
    });
    const kind = typesOf(schema).join(" or ") || toText(schema).slice(0, 100);
    return fields.length === 0 ? kind : `${kind} with ${fields.join(", ")}`;
  });
  return summaries.join(", ");
}
