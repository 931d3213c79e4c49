/**
 * Checks values against JSON Schema, draft 2020-12 plus common forms of draft 7, and repairs
 * mistakes that models often make. It is small on purpose. A schema with an unsupported keyword is
 * refused at first use, never ignored. Every tool call is checked here.
 */
import { errorText } from "./errors.ts";
import { isAllowed, isOfType, typesOf } from "./json-type.ts";
import {
  asRecord,
  isMultiple,
  isRecord,
  keepDigits,
  list,
  parseJson,
  toText,
  type JsonSchema,
} from "./json-value.ts";
import type { Pattern } from "./pattern.ts";
import { linksOf } from "./schema-links.ts";
import {
  bound,
  expect,
  expectOneOf,
  fail,
  summarize,
  target,
  type SchemaIssue,
  type Side,
  type Walk,
} from "./schema-walk.ts";

export type ValidationResult =
  | { readonly value: unknown; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

const maxDepth = 1000;
const maxSteps = 1_000_000;
const maxIssues = 50;

/**
 * Checks a value that came from JSON and repairs it if possible. Throws `invalid_argument` only for
 * a schema that `assertCheckable` refuses.
 *
 * - A value that fits is returned as is: the same object, without defaults. `format` is ignored.
 * - A value that does not fit is repaired in a copy, and the whole copy must then fit. Where
 *   another type is expected, a string of JSON is parsed, and a number or boolean becomes a string.
 *   A single value becomes an array of one item if it fits. An optional property that is null is
 *   removed. In a union, the member that type and constants identify is repaired. If they identify
 *   none or several, and none of these fits, the first member that the value fits after a repair is
 *   used.
 * - Otherwise `issues` lists the problems of the copy, up to 50. A value that needs more than 1,000
 *   nested schemas or a million steps does not fit.
 */
export function checkJson(schema: JsonSchema | boolean, value: unknown): ValidationResult {
  const walk = beginWalk(schema);
  try {
    visit(walk, schema, value);
    if (walk.issues.length === 0) return { value };
    const [mended] = attempt({ ...walk, steps: 0 }, schema, value, true);
    const [, issues] = attempt({ ...walk, steps: 0 }, schema, mended);
    return issues.length === 0 ? { value: mended } : { issues: issues.slice(0, maxIssues) };
  } catch (error) {
    // A RangeError comes from our limits or from a stack overflow.
    const message =
      error instanceof RangeError
        ? "is nested too deep or too large to be checked"
        : errorText(error);
    return { issues: [...walk.issues.slice(0, maxIssues), { path: "", message }] };
  }
}

/** Returns the issues of a value without repairing it. Throws as {@link checkJson} does. */
export function issuesOf(schema: JsonSchema, value: unknown): readonly SchemaIssue[] {
  const walk = beginWalk(schema);
  try {
    visit(walk, schema, value);
  } catch {
    walk.issues.push({ path: "", message: "is nested too deep or too large to be checked" });
  }
  return walk.issues;
}

function beginWalk(schema: JsonSchema | boolean): Walk {
  return {
    links: linksOf(schema, "The schema"),
    mend: false,
    issues: [],
    path: [],
    steps: 0,
    known: [new Map(), new Map()],
  };
}

/**
 * Adds the issues of a value to the walk, under `key` if given. Returns the value, repaired if
 * `walk.mend` is set.
 */
function visit(walk: Walk, schema: unknown, given: unknown, key?: PropertyKey): unknown {
  walk.steps += 1;
  if (walk.path.length > maxDepth || walk.steps > maxSteps) throw new RangeError();
  if (schema === false) fail(walk, "is not expected", key);
  if (!isRecord(schema)) return given;
  walk.path.push(key);
  let value = walk.mend && !isOfType(schema, given) ? convert(walk, schema, given) : given;
  if (!isOfType(schema, value)) expect(walk, value, typesOf(schema).join(" or "));
  else if (isAllowed(schema, value)) value = check(walk, schema, value);
  else if (schema.const === undefined) expectOneOf(walk, [schema], value);
  else expect(walk, value, toText(schema.const));
  walk.path.pop();
  return value;
}

/** Visits a value with a separate list of issues. The result is memoised by schema and value. */
function attempt(walk: Walk, schema: unknown, value: unknown, mend = false): Side {
  // Nested unions ask for the same schema and value many times.
  const known = walk.known[mend ? 1 : 0];
  const of = (typeof value === "object" && known.get(schema)) || new Map<unknown, Side>();
  const before = of.get(value);
  if (before) return before;
  const side = { ...walk, mend, issues: [] };
  const found: Side = [visit(side, schema, value), side.issues];
  walk.steps = side.steps;
  if (typeof value === "object") known.set(schema, of.set(value, found));
  return found;
}

function fits(walk: Walk, schema: unknown, value: unknown): boolean {
  return attempt(walk, schema, value)[1].length === 0;
}

/** Checks a value of the right type against the other keywords. */
function check(walk: Walk, schema: JsonSchema, given: unknown): unknown {
  let value = given;
  if (typeof value === "number") {
    const {
      exclusiveMinimum: low,
      exclusiveMaximum: high,
      multipleOf: step,
    } = schema as Record<string, number>;
    bound(walk, value, schema.minimum, schema.maximum);
    if (value <= low!) expect(walk, value, `more than ${low}`, value);
    if (value >= high!) expect(walk, value, `less than ${high}`, value);
    if (step !== undefined && !isMultiple(value, step))
      expect(walk, value, `a multiple of ${step}`, value);
  } else if (typeof value === "string") {
    // A character above U+FFFF is two UTF-16 units but counts as one.
    if ((schema.minLength ?? schema.maxLength) !== undefined)
      bound(
        walk,
        value.replaceAll(/[^\0-\uffff]/gu, ".").length,
        schema.minLength,
        schema.maxLength,
        " character",
      );
    if (
      typeof schema.pattern === "string" &&
      !(walk.links.get(schema.pattern) as Pattern).test(value)
    )
      expect(walk, value, `text that matches ${schema.pattern}`);
  } else if (Array.isArray(value)) value = checkArray(walk, schema, value);
  else if (isRecord(value)) value = checkObject(walk, schema, value);
  value = visit(walk, walk.links.get(schema), value);
  if (schema.allOf !== undefined)
    for (const part of list(schema.allOf)) value = visit(walk, part, value);
  if (schema.anyOf !== undefined) value = checkUnion(walk, list(schema.anyOf), value, false);
  if (schema.oneOf !== undefined) value = checkUnion(walk, list(schema.oneOf), value, true);
  if (schema.if !== undefined)
    value = visit(walk, fits(walk, schema.if, value) ? schema.then : schema.else, value);
  if (schema.not !== undefined && fits(walk, schema.not, value))
    expect(walk, value, `anything but ${summarize(walk, [schema.not])}`);
  return value;
}

function checkArray(walk: Walk, schema: JsonSchema, array: readonly unknown[]): unknown {
  const { items, contains, minContains = 1, uniqueItems } = schema;
  const [first, rest] = Array.isArray(items)
    ? [items, schema.additionalItems]
    : [list(schema.prefixItems), items];
  const made = array.map((item, index) =>
    visit(walk, index < first.length ? first[index] : rest, item, index),
  );
  bound(walk, made.length, schema.minItems, schema.maxItems, " item");
  if (contains !== undefined) {
    const fitting = made.filter((item) => fits(walk, contains, item));
    bound(walk, fitting.length, minContains, schema.maxContains, " fitting item");
  }
  if (uniqueItems === true && new Set(made.map(toText)).size < made.length)
    expect(walk, made, "items that differ");
  return made.some((item, index) => item !== array[index]) ? made : array;
}

function checkObject(walk: Walk, schema: JsonSchema, object: JsonSchema): unknown {
  const { patternProperties, propertyNames } = schema;
  const properties = asRecord(schema.properties);
  const required = list(schema.required) as readonly string[];
  const patterns =
    patternProperties === undefined ? [] : Object.entries(asRecord(patternProperties));
  const made = new Map<string, unknown>();
  for (const name of Object.keys(object)) {
    let item = object[name];
    let isKnown = Object.hasOwn(properties, name);
    const mayGo = walk.mend && item === null && isKnown && !required.includes(name);
    if (item === undefined || (mayGo && !fits(walk, properties[name], item))) continue;
    if (isKnown) item = visit(walk, properties[name], item, name);
    for (const [pattern, part] of patterns) {
      if (!(walk.links.get(pattern) as Pattern).test(name)) continue;
      isKnown = true;
      item = visit(walk, part, item, name);
    }
    if (!isKnown) item = visit(walk, schema.additionalProperties, item, name);
    // Count a step for every name, even without a schema for names.
    if (propertyNames === undefined) visit(walk, propertyNames, name);
    else
      for (const { message } of attempt(walk, propertyNames, name)[1])
        fail(walk, `has a name that does not fit: ${message}`, name);
    made.set(name, item);
  }
  bound(walk, made.size, schema.minProperties, schema.maxProperties, " field");
  for (const name of required) if (!made.has(name)) fail(walk, "is required", name);
  const rules = [schema.dependencies, schema.dependentRequired, schema.dependentSchemas].filter(
    isRecord,
  );
  // Keep the same object if nothing changed, because results are memoised by object.
  const isSame =
    !walk.mend ||
    (made.size === Object.keys(object).length &&
      [...made].every(([name, item]) => object[name] === item));
  // Object.fromEntries, because assignment would set the prototype for a property "__proto__".
  let value: unknown = isSame ? object : Object.fromEntries(made);
  for (const [name, rule] of rules.flatMap(Object.entries<unknown>)) {
    if (!made.has(name)) continue;
    for (const also of list(rule) as string[])
      if (!made.has(also)) fail(walk, `is required with ${name}`, also);
    value = visit(walk, rule, value);
  }
  return value;
}

function checkUnion(
  walk: Walk,
  branches: readonly unknown[],
  value: unknown,
  one: boolean,
): unknown {
  const near = branches.filter(
    (part) => isOfType(target(walk, part), value) && isAllowed(target(walk, part), value),
  );
  // Prefer the member that type and constants identify: it is faster to check and gives the most
  // useful issues.
  const likely = near.filter((branch) =>
    Object.entries(asRecord(target(walk, branch).properties)).every(
      ([name, part]) =>
        !Object.hasOwn(asRecord(value), name) || isAllowed(asRecord(part), asRecord(value)[name]),
    ),
  );
  if (likely.length === 1) return visit(walk, likely[0], value);
  const fitting = likely.filter((branch) => fits(walk, branch, value));
  if (fitting.length > 1 && one) fail(walk, `fits more than one of: ${summarize(walk, fitting)}`);
  if (fitting.length > 0) return value;
  for (const branch of walk.mend ? branches : []) {
    const [made, found] = attempt(walk, branch, value, true);
    if (found.length === 0) return made;
  }
  return near.length === 1 ? visit(walk, near[0], value) : expectOneOf(walk, branches, value);
}

/**
 * Converts the value to one of the schema's types if the conversion is unambiguous. Otherwise
 * returns it as is.
 */
function convert(walk: Walk, schema: JsonSchema, value: unknown): unknown {
  const wanted = typesOf(schema);
  const said = typeof value === "string" ? parseJson(keepDigits(value)) : undefined;
  for (const type of wanted) {
    const made = type === "string" && /^[nb]/.test(typeof value) ? String(value) : said;
    if (made !== undefined && isOfType({ type: [type] }, made)) return made;
  }
  // A string that begins with "[" is a broken array, not a single item.
  const single =
    wanted.includes("array") &&
    value !== null &&
    !(typeof value === "string" && /^\s*\[/.test(value));
  return single && fits(walk, schema, [value]) ? [value] : value;
}
