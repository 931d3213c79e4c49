/**
 * Checks values against JSON Schema, draft 2020-12 with the habits of draft 7, and mends what models often get wrong in
 * arguments. Small on purpose: what cannot be checked is refused when a schema is first seen, never ignored.
 */
import { toBowlineError } from "./errors.ts";

export type JsonSchema = Record<string, unknown>;

/** One thing wrong with a value: where (`a.b[0]`, `` for the whole), and what. */
export interface SchemaIssue {
  readonly path: string;
  readonly message: string;
}

export type ValidationResult =
  | { readonly value: unknown; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

const maxDepth = 1000;
const maxIssues = 50;

/**
 * Checks a value that came from JSON. Throws for a schema that {@link assertCheckable} refuses, and for nothing else.
 *
 * - A value that fits is given back as it is: the same object, without defaults. `format` is not looked at.
 * - One that does not fit is mended in a copy, and the whole copy must fit: the JSON text of a number, boolean, null, object
 *   or array becomes what it says where that is expected; a number or boolean becomes text; a single item becomes an array of
 *   it, if it fits there; an optional property that is null goes. Of a union's members the first that then fits is taken.
 * - Otherwise all that is still wrong is said at once. Deeper than 1000 levels, of value and schema together, nothing fits.
 */
export function checkJson(schema: JsonSchema | boolean, value: unknown): ValidationResult {
  const check: Check = { links: linksOf(schema, "a schema"), known: [new Map(), new Map()] };
  try {
    assertDepth(value);
    if (visit(check, schema, value, false, 0).faults.length === 0) return { value };
    const mended = visit(check, schema, value, true, 0).value;
    const { faults } = visit(check, schema, mended, false, 0);
    return faults.length === 0 ? { value: mended } : { issues: toIssues(faults) };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return { issues: [{ path: "", message: `is nested deeper than ${maxDepth} levels` }] };
  }
}

/**
 * Throws `invalid_argument` if a part of the schema cannot be checked here: a keyword, a `$ref` that leads out of the schema
 * or nowhere, an unknown type, a pattern that is none. `what` names the schema's owner.
 */
export function assertCheckable(schema: JsonSchema, what: string): void {
  linksOf(schema, what);
}

/** What a value is, in words: `the string "x"`, `number 5`, `an array`. */
export function describe(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "string") return `the string ${JSON.stringify(shorten(value, 40))}`;
  if (typeof value === "number" || typeof value === "boolean") return `${typeof value} ${value}`;
  return value === undefined ? "nothing" : `a${typeof value === "object" ? "n" : ""} ${typeof value}`;
}

/** `["a", "b", 0]` as `a.b[0]`. */
export function formatPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === "number") return `${text}[${key}]`;
    return text === "" ? String(key) : `${text}.${String(key)}`;
  }, "");
}

interface Fault {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

interface Outcome {
  readonly faults: readonly Fault[];
  readonly value: unknown;
}

interface Check {
  /** Each schema that has a `$ref`, with the schema it leads to. */
  readonly links: ReadonlyMap<unknown, unknown>;
  /** What the target of a `$ref` made of a value, strictly and mending: recursive unions would take exponential time. */
  readonly known: readonly [Map<unknown, Map<unknown, Outcome>>, Map<unknown, Map<unknown, Outcome>>];
}

function visit(check: Check, schema: unknown, value: unknown, mend: boolean, depth: number): Outcome {
  if (depth > maxDepth) throw new RangeError();
  if (schema === false) return { faults: [{ path: [], message: "is not expected" }], value };
  return isRecord(schema) ? new Visit(check, schema, value, mend, depth).run() : { faults: [], value };
}

/** One value before one schema. */
class Visit implements Outcome {
  readonly faults: Fault[] = [];
  value: unknown;
  readonly #check: Check;
  readonly #schema: JsonSchema;
  readonly #mend: boolean;
  readonly #depth: number;

  constructor(check: Check, schema: JsonSchema, value: unknown, mend: boolean, depth: number) {
    this.#check = check;
    this.#schema = schema;
    this.value = value;
    this.#mend = mend;
    this.#depth = depth;
  }

  run(): Outcome {
    const schema = this.#schema;
    const types = typesOf(schema);
    if (!isOfType(types, this.value)) {
      const made = this.#mend ? this.#convert(types) : undefined;
      if (made === undefined) return this.#expect(types.join(" or "));
      this.value = made;
    }
    if (!isAllowed(schema, this.value)) {
      const options = this.#mend ? [schema.const, ...list(schema.enum)] : [];
      const made = options.find((option) => isScalar(option) && isScalar(this.value) && `${option}` === `${this.value}`);
      if (made === undefined) return this.#expect(this.#summarize(schema));
      this.value = made;
    }
    if (typeof this.value === "number") this.#number(this.value);
    else if (typeof this.value === "string") this.#string(this.value);
    else if (Array.isArray(this.value)) this.#array(this.value);
    else if (isRecord(this.value)) this.#object(this.value);
    if (this.#check.links.has(schema)) this.#follow(this.#check.links.get(schema));
    for (const part of list(schema.allOf)) this.#apply(part);
    if (schema.anyOf !== undefined) this.#union(list(schema.anyOf), false);
    if (schema.oneOf !== undefined) this.#union(list(schema.oneOf), true);
    if (schema.if !== undefined) this.#apply(this.#fits(schema.if, this.value) ? schema.then : schema.else);
    if (schema.not !== undefined && this.#fits(schema.not, this.value)) {
      this.#expect(`anything but ${this.#summarize(schema.not)}`);
    }
    return this;
  }

  #number(value: number): void {
    const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = this.#schema;
    this.#bound(value, minimum, maximum, "");
    if (value <= (exclusiveMinimum as number)) this.#fail(`expected more than ${exclusiveMinimum}, received ${value}`);
    if (value >= (exclusiveMaximum as number)) this.#fail(`expected less than ${exclusiveMaximum}, received ${value}`);
    if (typeof multipleOf === "number" && !isMultiple(value, multipleOf)) {
      this.#fail(`expected a multiple of ${multipleOf}, received ${value}`);
    }
  }

  #string(value: string): void {
    const { minLength, maxLength, pattern } = this.#schema;
    if (minLength !== undefined || maxLength !== undefined) {
      const length = value.replaceAll(/[\uD800-\uDBFF][\uDC00-\uDFFF]/g, ".").length;
      this.#bound(length, minLength, maxLength, " character");
    }
    if (typeof pattern === "string" && !toRegExp(pattern).test(value)) this.#expect(`text that matches ${pattern}`);
  }

  #array(value: readonly unknown[]): void {
    const { items, additionalItems, prefixItems, contains, minItems, maxItems, uniqueItems } = this.#schema;
    const [first, rest] = Array.isArray(items) ? [items, additionalItems] : [list(prefixItems), items];
    const made = value.map((item, index) => {
      return this.#take(this.#run(index < first.length ? first[index] : rest, item), index);
    });
    if (this.#mend) this.value = made;
    this.#bound(made.length, minItems, maxItems, " item");
    if (contains !== undefined) {
      const { minContains = 1, maxContains } = this.#schema;
      const fitting = made.filter((item) => this.#fits(contains, item));
      this.#bound(fitting.length, minContains, maxContains, " fitting item");
    }
    if (uniqueItems !== true) return;
    const seen = new Map<string, number>();
    for (const [index, item] of made.entries()) {
      const twin = seen.get(toText(item));
      if (twin === undefined) seen.set(toText(item), index);
      else this.#fail(`expected items that differ, received item ${twin} again`, index);
    }
  }

  #object(value: JsonSchema): void {
    const schema = this.#schema;
    const properties = map(schema.properties);
    const required = list(schema.required) as string[];
    const patterns = Object.entries(map(schema.patternProperties)).map(([p, part]) => [toRegExp(p), part] as const);
    const made: [string, unknown][] = [];
    for (const [name, given] of Object.entries(value)) {
      if (given === undefined) continue;
      const parts = patterns.filter(([pattern]) => pattern.test(name)).map(([, part]) => part);
      if (Object.hasOwn(properties, name)) {
        parts.unshift(properties[name]);
        if (this.#mend && given === null && !required.includes(name) && !this.#fits(parts[0], null)) continue;
      }
      if (parts.length === 0) parts.push(schema.additionalProperties);
      made.push([name, parts.reduce((item, part) => this.#take(this.#run(part, item), name), given)]);
      for (const { message } of this.#run(schema.propertyNames, name, false).faults) {
        this.#fail(`has a name that does not fit: ${message}`, name);
      }
    }
    const names = new Set(made.map(([name]) => name));
    // Not by assignment: a property may be called "__proto__".
    if (this.#mend) this.value = Object.fromEntries(made);
    this.#bound(names.size, schema.minProperties, schema.maxProperties, " field");
    for (const name of required) if (!names.has(name)) this.#fail("is required", name);
    for (const rules of [schema.dependencies, schema.dependentRequired, schema.dependentSchemas]) {
      for (const [name, rule] of Object.entries(map(rules))) {
        if (!names.has(name)) continue;
        if (!Array.isArray(rule)) this.#apply(rule);
        else for (const other of rule) if (!names.has(other)) this.#fail(`is required with ${name}`, other);
      }
    }
  }

  #union(branches: readonly unknown[], one: boolean): void {
    const { value } = this;
    // Only what may fit is tried: faster, and what is wrong with the member that was meant can be told from the rest.
    const near = branches.filter((branch) => mayFit(this.#target(branch), value));
    const likely = near.filter((branch) => mayHold(this.#target(branch), value));
    const tried = new Map(likely.map((branch) => [branch, this.#run(branch, value, false)]));
    const fitting = likely.filter((branch) => tried.get(branch)?.faults.length === 0);
    if (fitting.length === 1 || (fitting.length > 0 && !one)) return;
    if (fitting.length > 0) {
      this.#fail(`fits more than one of: ${this.#summarize({ anyOf: fitting })}`);
      return;
    }
    for (const branch of this.#mend ? branches : []) {
      const outcome = this.#run(branch, value);
      tried.set(branch, outcome);
      if (outcome.faults.length > 0) continue;
      this.value = outcome.value;
      return;
    }
    const meant = likely.length === 1 ? likely : near;
    if (meant.length === 1) this.value = this.#take(tried.get(meant[0]) ?? this.#run(meant[0], value));
    else this.#expect(`one of: ${this.#summarize({ anyOf: branches })}`);
  }

  #follow(target: unknown): void {
    const known = this.#check.known[this.#mend ? 1 : 0];
    const byValue = known.get(target) ?? new Map<unknown, Outcome>();
    known.set(target, byValue);
    const outcome = byValue.get(this.value) ?? this.#run(target, this.value);
    byValue.set(this.value, outcome);
    this.value = this.#take(outcome);
  }

  /** The value as one of the types, if it says plainly what it is. */
  #convert(types: readonly string[]): unknown {
    const { value } = this;
    const parsed = typeof value === "string" ? parseJson(value) : undefined;
    for (const type of types) {
      const made = type === "string" && isScalar(value) ? String(value) : parsed;
      if (made !== undefined && isOfType([type], made)) return made;
    }
    // A text that begins like an array is a broken one, not its only item.
    if (!types.includes("array") || (typeof value === "string" && /^\s*\[/.test(value))) return undefined;
    const item = [value, parsed].find((one) => one !== undefined && one !== null && this.#fits(this.#schema, [one]));
    return item === undefined ? undefined : [item];
  }

  #apply(schema: unknown): void {
    this.value = this.#take(this.#run(schema, this.value));
  }

  #run(schema: unknown, value: unknown, mend = this.#mend): Outcome {
    return visit(this.#check, schema, value, mend, this.#depth + 1);
  }

  #fits(schema: unknown, value: unknown): boolean {
    return this.#run(schema, value, false).faults.length === 0;
  }

  #take(outcome: Outcome, ...path: PropertyKey[]): unknown {
    for (const fault of outcome.faults) this.#fail(fault.message, ...path, ...fault.path);
    return outcome.value;
  }

  #bound(size: number, low: unknown, high: unknown, unit: string): void {
    const count = (limit: unknown): string => `${String(limit)}${unit}${unit === "" || limit === 1 ? "" : "s"}`;
    if (size < (low as number)) this.#fail(`expected at least ${count(low)}, received ${size}`);
    if (size > (high as number)) this.#fail(`expected at most ${count(high)}, received ${size}`);
  }

  #expect(expected: string): this {
    return this.#fail(`expected ${expected}, received ${describe(this.value)}`);
  }

  #fail(message: string, ...path: PropertyKey[]): this {
    this.faults.push({ path, message });
    return this;
  }

  #target(schema: unknown): unknown {
    const target = this.#check.links.get(schema);
    return target === undefined ? schema : target;
  }

  /** What a schema wants, in a few words. */
  #summarize(given: unknown): string {
    const schema = map(this.#target(given));
    if (Array.isArray(schema.anyOf)) return schema.anyOf.map((branch) => this.#summarize(branch)).join(", ");
    if (schema.const !== undefined) return toText(schema.const);
    if (Array.isArray(schema.enum)) return shorten(schema.enum.map(toText).join(", "), 300);
    const constants = Object.entries(map(schema.properties)).filter(([, part]) => map(part).const !== undefined);
    const names = constants.map(([name, part]) => `${name} ${toText(map(part).const)}`);
    const fields = names.length > 0 ? names : list(schema.required);
    const type = typesOf(schema).join(" or ") || shorten(toText(schema), 60);
    return fields.length === 0 ? type : `${type} with ${fields.join(", ")}`;
  }
}

/** Whether type, `const` and `enum` leave a value a chance. */
function mayFit(schema: unknown, value: unknown): boolean {
  return schema !== false && isOfType(typesOf(map(schema)), value) && isAllowed(map(schema), value);
}

/** Whether what the properties must be constant to leaves a value a chance. */
function mayHold(schema: unknown, value: unknown): boolean {
  return Object.entries(map(map(schema).properties)).every(
    ([name, part]) => !Object.hasOwn(map(value), name) || isAllowed(map(part), map(value)[name]),
  );
}

function typesOf(schema: JsonSchema): string[] {
  return [schema.type ?? []].flat() as string[];
}

function isOfType(types: readonly string[], value: unknown): boolean {
  const own = value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
  return types.length === 0 || types.includes(own) || (types.includes("integer") && Number.isInteger(value));
}

/** What `const` and `enum` say. */
function isAllowed(schema: JsonSchema, value: unknown): boolean {
  if (schema.const !== undefined && !isSame(schema.const, value)) return false;
  return !Array.isArray(schema.enum) || schema.enum.some((option) => isSame(option, value));
}

function isSame(a: unknown, b: unknown): boolean {
  return a === b || (typeof a === "object" && typeof b === "object" && toText(a) === toText(b));
}

/** JSON with sorted names: the same text for equal values. */
function toText(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    isRecord(part) ? Object.fromEntries(Object.keys(part).toSorted().map((name) => [name, part[name]])) : part,
  );
}

/** Decimals as they are written: 0.3 is a multiple of 0.1. */
function isMultiple(value: number, step: number): boolean {
  if (!Number.isFinite(value) || step <= 0) return false;
  const [a, b] = [decimal(value), decimal(step)] as const;
  const low = Math.min(a.exponent, b.exponent);
  return (a.digits * 10n ** BigInt(a.exponent - low)) % (b.digits * 10n ** BigInt(b.exponent - low)) === 0n;
}

function decimal(value: number): { readonly digits: bigint; readonly exponent: number } {
  const [mantissa = "", exponent] = value.toExponential().split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length };
}

/** JSON as JavaScript can hold it, or nothing. */
function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    assertDepth(value);
    return typeof value === "number" && Math.abs(value) > Number.MAX_SAFE_INTEGER ? undefined : value;
  } catch {
    return undefined;
  }
}

function assertDepth(value: unknown, left = maxDepth): void {
  if (left < 0) throw new RangeError();
  if (typeof value !== "object" || value === null) return;
  for (const part of Object.values(value)) assertDepth(part, left - 1);
}

function toRegExp(pattern: string): RegExp {
  try {
    return new RegExp(pattern, "u");
  } catch {
    return new RegExp(pattern);
  }
}

function toIssues(faults: readonly Fault[]): SchemaIssue[] {
  const issues = faults.map(({ path, message }) => ({ path: formatPath(path), message }));
  // Two members of an allOf may say the same.
  const unique = [...new Map(issues.map((issue) => [`${issue.path}: ${issue.message}`, issue])).values()];
  const rest = unique.splice(maxIssues).length;
  return rest === 0 ? unique : [...unique, { path: "", message: `and ${rest} more` }];
}

function shorten(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}…` : text;
}

function isScalar(value: unknown): value is string | number | boolean {
  return ["string", "number", "boolean"].includes(typeof value);
}

function isRecord(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function map(value: unknown): JsonSchema {
  return isRecord(value) ? value : {};
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

const linksBySchema = new WeakMap<object, Check["links"]>();
const typeNames = ["array", "boolean", "integer", "null", "number", "object", "string"];
const uncheckable = ["$dynamicRef", "$recursiveRef", "unevaluatedItems", "unevaluatedProperties"];
const maps = ["$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"];
const places =
  "additionalItems additionalProperties allOf anyOf contains else if items not oneOf prefixItems propertyNames then".split(
    " ",
  );
const remedy = "use a Standard Schema library for it, such as zod";

/** Looks once through a schema: refuses what cannot be checked, and resolves each `$ref`. */
function linksOf(root: unknown, what: string): Check["links"] {
  const known = linksBySchema.get(map(root));
  if (known !== undefined || !isRecord(root)) return known ?? new Map();
  const links = new Map<unknown, unknown>();
  // Each part with the resource it belongs to, whose root its pointers start from. It grows while it is walked.
  const bases = new Map<JsonSchema, JsonSchema>();
  const add = (part: unknown, base: JsonSchema): void => {
    if (isRecord(part) && !bases.has(part)) bases.set(part, /^[^#]/.test(String(part.$id ?? "")) ? part : base);
  };
  add(root, root);
  try {
    for (const [schema, base] of bases) {
      for (const [key, value] of Object.entries(schema)) {
        if (uncheckable.includes(key)) throw new Error(`"${key}" cannot be checked; ${remedy}`);
        if (places.includes(key)) for (const part of [value].flat()) add(part, base);
        if (maps.includes(key)) for (const part of Object.values(map(value))) add(part, base);
      }
      for (const type of typesOf(schema)) if (!typeNames.includes(type)) throw new Error(`${toText(type)} is no type`);
      for (const pattern of [schema.pattern ?? "", ...Object.keys(map(schema.patternProperties))]) toRegExp(String(pattern));
      if (typeof schema.$ref === "string" && /^#(?:\/|$)/.test(schema.$ref)) {
        const target = schema.$ref.split("/").slice(1).reduce<unknown>((at, part) => {
          const key = decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
          return Object.hasOwn(Object(at) as object, key) ? (at as JsonSchema)[key] : undefined;
        }, base);
        links.set(schema, target);
        add(target, base);
      }
    }
    for (const [schema, base] of bases) {
      const { $ref } = schema;
      if ($ref === undefined) continue;
      if (!links.has(schema)) {
        const [target] =
          [...bases].find(([part, own]) => part.$id === $ref || (own === base && `#${String(part.$anchor)}` === $ref)) ?? [];
        links.set(schema, target);
      }
      if (links.get(schema) === undefined) {
        throw new Error(`"$ref" to ${toText($ref)} leads to nothing in the schema; to follow it elsewhere ${remedy}`);
      }
    }
  } catch (error) {
    throw toBowlineError(error, "invalid_argument", `The parameters of ${what}`);
  }
  linksBySchema.set(root, links);
  return links;
}
