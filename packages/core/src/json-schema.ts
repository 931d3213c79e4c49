/**
 * Checks values against JSON Schema, draft 2020-12 with the habits of draft 7, and mends what models often get wrong. Small on
 * purpose, hence closures, whose names shrink: what it does not check is refused when a schema is first seen, never ignored.
 */
import { errorText } from "./errors.ts";
import {
  describe,
  isMultiple,
  isRecord,
  joinPath,
  type JsonSchema,
  list,
  asRecord,
  parseJson,
  toText,
} from "./json-value.ts";
import { linksOf, type SchemaLinks, toRegExp } from "./schema-links.ts";

/** One thing wrong with a value: where (`a.b[0]`, `` for the whole), and what. */
export interface SchemaIssue {
  readonly path: string;
  readonly message: string;
}

export type ValidationResult =
  | { readonly value: unknown; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

/** Where a walk is, and what it is for. */
interface Place {
  readonly path: string;
  readonly depth: number;
  readonly mend: boolean;
  readonly issues: SchemaIssue[];
}

const maxDepth = 1000;
const maxSteps = 1_000_000;
const maxIssues = 50;

/**
 * Checks a value that came from JSON. Throws for a schema that `assertCheckable` refuses, and for nothing else.
 *
 * - A value that fits comes back as it is: the same object, without defaults. `format` is not looked at.
 * - One that does not fit is mended in a copy, and the whole copy must fit: the JSON text of a number, boolean, null, object
 *   or array becomes what it says where that is expected; a number or boolean becomes text; a single item becomes an array of
 *   it, if it fits there; an optional property that is null goes. Of a union, the member that type and constants name is
 *   mended; if they name none or several and none of those fits, the first member that then fits is taken.
 * - Otherwise `issues` says what is wrong with the copy: everything at once, up to 50. A value that leads 1000 schemas deep or
 *   through a million does not fit.
 */
export function checkJson(schema: JsonSchema | boolean, value: unknown): ValidationResult {
  const links = linksOf(schema, "The schema");
  const walk = (from: unknown, issues: SchemaIssue[], mend = false): unknown =>
    createWalk(links)(schema, from, { path: "", depth: 0, mend, issues });
  const strict: SchemaIssue[] = [];
  const issues: SchemaIssue[] = [];
  try {
    walk(value, strict);
    if (strict.length === 0) return { value };
    const mended = walk(value, [], true);
    walk(mended, issues);
    return issues.length === 0 ? { value: mended } : { issues: issues.slice(0, maxIssues) };
  } catch (error) {
    // Ours, or that of an engine whose stack is full.
    const message = error instanceof RangeError ? "is nested too deep or too large to be checked" : errorText(error);
    return { issues: [...strict.slice(0, maxIssues), { path: "", message }] };
  }
}

/** The walk of one check: notes what is wrong, gives back the value, mended if that is asked for. */
function createWalk(links: SchemaLinks): (schema: unknown, value: unknown, place: Place) => unknown {
  let steps = 0;
  return walk;

  function walk(schema: unknown, given: unknown, place: Place): unknown {
    const { path, depth, mend, issues } = place;
    let value = given;
    steps += 1;
    if (depth > maxDepth || steps > maxSteps) throw new RangeError();
    if (schema === false) fail("is not expected");
    if (!isRecord(schema)) return value;

    const types = typesOf(schema);
    if (!isOfType(types, value)) {
      const made = mend ? convert(schema, types) : undefined;
      if (made === undefined) return expect(types.join(" or "));
      value = made;
    }
    if (!isAllowed(schema, value)) {
      return schema.const === undefined ? expectOneOf([schema]) : expect(toText(schema.const));
    }
    if (typeof value === "number") checkNumber(schema, value);
    else if (typeof value === "string") checkString(schema, value);
    else if (Array.isArray(value)) value = checkArray(schema, value);
    else if (isRecord(value)) value = checkObject(schema, value);
    for (const part of [links.get(schema), ...list(schema.allOf)]) value = run(part, value);
    if (schema.anyOf !== undefined) value = checkUnion(list(schema.anyOf), false);
    if (schema.oneOf !== undefined) value = checkUnion(list(schema.oneOf), true);
    if (schema.if !== undefined) value = run(fits(schema.if, value) ? schema.then : schema.else, value);
    if (schema.not !== undefined && fits(schema.not, value)) expect(`anything but ${summarize(schema.not)}`);
    return value;

    function fail(message: string, at = path): unknown {
      issues.push({ path: at, message });
      return value;
    }

    function expect(expected: string, received = describe(value)): unknown {
      return fail(`expected ${expected}, received ${received}`);
    }

    function expectOneOf(schemas: readonly unknown[]): unknown {
      return fail(`expected one of: ${schemas.map(summarize).join(", ")}; received ${describe(value)}`);
    }

    function run(part: unknown, item: unknown, at = path): unknown {
      return walk(part, item, { path: at, depth: depth + 1, mend, issues });
    }

    function attempt(part: unknown, item: unknown, mending = false): [made: unknown, found: readonly SchemaIssue[]] {
      const found: SchemaIssue[] = [];
      return [walk(part, item, { path, depth: depth + 1, mend: mending, issues: found }), found];
    }

    function fits(part: unknown, item: unknown): boolean {
      return attempt(part, item)[1].length === 0;
    }

    /** Checks `min…` and `max…` of something. */
    function bound(keywords: JsonSchema, what: string, size: number, unit = "", least?: number): void {
      const { [`min${what}`]: low = least, [`max${what}`]: high } = keywords as Record<string, number | undefined>;
      const count = (limit?: number): string => `${limit}${unit}${unit === "" || limit === 1 ? "" : "s"}`;
      if (size < low!) expect(`at least ${count(low)}`, String(size));
      if (size > high!) expect(`at most ${count(high)}`, String(size));
    }

    function checkNumber(keywords: JsonSchema, number: number): void {
      const { exclusiveMinimum: low, exclusiveMaximum: high, multipleOf: step } = keywords as Record<string, number>;
      bound(keywords, "imum", number);
      if (number <= low!) expect(`more than ${low}`, String(number));
      if (number >= high!) expect(`less than ${high}`, String(number));
      if (step !== undefined && !isMultiple(number, step)) expect(`a multiple of ${step}`, String(number));
    }

    function checkString(keywords: JsonSchema, text: string): void {
      const { pattern } = keywords;
      // Characters beyond U+FFFF are two units long and count as one.
      bound(keywords, "Length", text.replaceAll(/[^\0-\uffff]/gu, ".").length, " character");
      if (typeof pattern === "string" && !toRegExp(pattern).test(text)) expect(`text that matches ${pattern}`);
    }

    function checkArray(keywords: JsonSchema, array: readonly unknown[]): unknown {
      const { items, additionalItems, prefixItems, contains, uniqueItems } = keywords;
      const [first, rest] = Array.isArray(items) ? [items, additionalItems] : [list(prefixItems), items];
      const made = array.map((item, index) =>
        run(index < first.length ? first[index] : rest, item, joinPath(path, index)),
      );
      bound(keywords, "Items", made.length, " item");
      if (contains !== undefined) {
        const fitting = made.filter((item) => fits(contains, item));
        bound(keywords, "Contains", fitting.length, " fitting item", 1);
      }
      if (uniqueItems === true && new Set(made.map(toText)).size < made.length) expect("items that differ");
      return mend ? made : array;
    }

    function checkObject(keywords: JsonSchema, object: JsonSchema): unknown {
      const properties = asRecord(keywords.properties);
      const required = list(keywords.required);
      const patterns = Object.entries(asRecord(keywords.patternProperties)).map(
        ([p, part]) => [toRegExp(p), part] as const,
      );
      const made: [name: string, item: unknown][] = [];
      for (const [name, item] of Object.entries(object)) {
        if (item === undefined) continue;
        const own = Object.hasOwn(properties, name) ? [properties[name]] : [];
        if (mend && item === null && !required.includes(name) && !own.every((part) => fits(part, item))) continue;
        const parts = own.concat(patterns.filter(([pattern]) => pattern.test(name)).map(([, part]) => part));
        if (parts.length === 0) parts.push(keywords.additionalProperties);
        const at = joinPath(path, name);
        made.push([name, parts.reduce((last, part) => run(part, last, at), item)]);
        const [, found] = attempt(keywords.propertyNames, name);
        for (const { message } of found) fail(`has a name that does not fit: ${message}`, at);
      }
      const names = made.map(([name]) => name);
      const need = (name: unknown, message: string): unknown =>
        names.includes(name as string) || fail(message, joinPath(path, name as string));
      // Not by assignment: a property may be called "__proto__".
      value = mend ? Object.fromEntries(made) : object;
      bound(keywords, "Properties", names.length, " field");
      for (const name of required) need(name, "is required");
      for (const rules of [keywords.dependencies, keywords.dependentRequired, keywords.dependentSchemas]) {
        for (const [name, rule] of Object.entries(asRecord(rules))) {
          if (!names.includes(name)) continue;
          for (const other of list(rule)) need(other, `is required with ${name}`);
          value = run(rule, value);
        }
      }
      return value;
    }

    function checkUnion(branches: readonly unknown[], one: boolean): unknown {
      // The member that type and constants name is the one that was meant: it is faster, and its issues are the useful ones.
      const likely = branches.filter((branch) => mayFit(branch, true));
      if (likely.length === 1) return run(likely[0], value);
      const fitting = likely.filter((branch) => fits(branch, value));
      if (fitting.length === 1 || (fitting.length > 0 && !one)) return value;
      if (fitting.length > 0) return fail(`fits more than one of: ${fitting.map(summarize).join(", ")}`);
      for (const branch of mend ? branches : []) {
        const [made, found] = attempt(branch, value, true);
        if (found.length === 0) return made;
      }
      const near = branches.filter((branch) => mayFit(branch, false));
      return near.length === 1 ? run(near[0], value) : expectOneOf(branches);
    }

    function mayFit(branch: unknown, deep: boolean): boolean {
      const keywords = target(branch);
      if (!isOfType(typesOf(keywords), value) || !isAllowed(keywords, value)) return false;
      return Object.entries(asRecord(keywords.properties)).every(
        ([name, part]) =>
          !deep || !Object.hasOwn(asRecord(value), name) || isAllowed(asRecord(part), asRecord(value)[name]),
      );
    }

    /** The value as one of the types, if it says plainly what it is. */
    function convert(keywords: JsonSchema, wanted: readonly string[]): unknown {
      for (const type of wanted) {
        const made = type === "string" && /^[nb]/.test(typeof value) ? String(value) : parseJson(value);
        if (made !== undefined && isOfType([type], made)) return made;
      }
      // A text that begins like an array is a broken one, not its only item.
      const single = wanted.includes("array") && value !== null && !(typeof value === "string" && /^\s*\[/.test(value));
      return single && fits(keywords, [value]) ? [value] : undefined;
    }
  }

  function target(schema: unknown): JsonSchema {
    return asRecord(links.get(schema) ?? schema);
  }

  /** What a schema wants, in a few words. */
  function summarize(given: unknown): string {
    const schema = target(given);
    const options = schema.const === undefined ? schema.enum : [schema.const];
    if (Array.isArray(options)) return options.slice(0, 20).map(toText).join(", ");
    const fields = list(schema.required).map((name) => {
      const only = asRecord(asRecord(schema.properties)[name as string]).const;
      return only === undefined ? name : `${String(name)} ${toText(only)}`;
    });
    const kind = typesOf(schema).join(" or ") || toText(schema).slice(0, 100);
    return fields.length === 0 ? kind : `${kind} with ${fields.join(", ")}`;
  }
}

function typesOf(schema: JsonSchema): string[] {
  return [schema.type ?? []].flat() as string[];
}

function isOfType(types: readonly string[], value: unknown): boolean {
  const own = value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
  return types.length === 0 || types.includes(own) || (types.includes("integer") && Number.isInteger(value));
}

/** Whether `const` and `enum` allow a value. */
function isAllowed(schema: JsonSchema, value: unknown): boolean {
  const has = (options: unknown): boolean => !Array.isArray(options) || options.map(toText).includes(toText(value));
  return has(schema.enum) && (schema.const === undefined || has([schema.const]));
}
