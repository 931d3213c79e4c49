/** One walk of a value through a schema: where it is, and what is wrong so far. */
import { asRecord, describe, joinPath, list, toText, type JsonSchema } from "./json-value.ts";
import { typesOf } from "./json-type.ts";
import type { SchemaLinks } from "./schema-links.ts";

/** One thing wrong with a value: where (`a.b[0]`, `` for the whole), and what. */
export interface SchemaIssue {
  readonly path: string;
  readonly message: string;
}

/**
 * One walk through a value. Its path has a key for each schema on the way down, none where the
 * value stays the same.
 */
export interface Walk {
  readonly links: SchemaLinks;
  readonly mend: boolean;
  readonly issues: SchemaIssue[];
  readonly path: (PropertyKey | undefined)[];
  steps: number;
  /** What visits on the side found, by schema and value: of a look, and of a mending. */
  readonly known: readonly [Sides, Sides];
}

/** What a visit on the side made of a value, and what is wrong with that. */
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

/** Checks `min…` and `max…` of something. */
export function bound(walk: Walk, size: number, low: unknown, high: unknown, unit = ""): void {
  const s = unit && "s";
  if (size < (low as number))
    expect(walk, size, `at least ${low as number}${unit}${low === 1 ? "" : s}`, size);
  if (size > (high as number))
    expect(walk, size, `at most ${high as number}${unit}${high === 1 ? "" : s}`, size);
}

/** The schema that this one leads to. */
export function target(walk: Walk, schema: unknown): JsonSchema {
  return asRecord(walk.links.get(schema) ?? schema);
}

/** What schemas want, in a few words each. */
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
