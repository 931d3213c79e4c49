/** Helpers for JSON values: describe, serialise, compare, parse. */

/** A JSON Schema: an object of keywords. */
export type JsonSchema = Record<string, unknown>;

/** Describes a value for an error message: `the string "x"`, `number 5`, `an array`. */
export function describe(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "string") return `the string ${JSON.stringify(shorten(value, 40))}`;
  if (isRecord(value)) return "an object";
  if (typeof value === "number" || typeof value === "boolean") return `${typeof value} ${value}`;
  return value === undefined ? "nothing" : `a ${typeof value}`;
}

/** Returns the text, cut to `length` characters plus an ellipsis if it is longer. */
export function shorten(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}…` : text;
}

/** Appends a key to a path: `a.b` and 0 give `a.b[0]`. */
export function joinPath(path: string, key: PropertyKey): string {
  if (typeof key === "number") return `${path}[${key}]`;
  return path === "" ? String(key) : `${path}.${String(key)}`;
}

/** Returns JSON with sorted property names, so that equal values have equal texts. */
export function toText(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => {
    if (!isRecord(part)) return part;
    return Object.fromEntries(
      Object.keys(part)
        .toSorted()
        .map((name) => [name, part[name]]),
    );
  });
}

/** Compares as decimals: 0.3 is a multiple of 0.1. */
export function isMultiple(value: number, step: number): boolean {
  const isWhole = Number.isInteger(value) && Number.isInteger(step);
  return isWhole ? value % step === 0 : Number.isInteger(Number((value / step).toPrecision(15)));
}

/**
 * Parses JSON. Returns undefined for invalid JSON, for a number beyond the safe range, and when
 * `reviver` throws.
 */
export function parseJson(
  text: unknown,
  reviver?: (name: string, value: unknown) => unknown,
): unknown {
  if (typeof text !== "string") return undefined;
  try {
    const value: unknown = JSON.parse(text, reviver);
    return typeof value === "number" && Math.abs(value) > Number.MAX_SAFE_INTEGER
      ? undefined
      : value;
  } catch {
    return undefined;
  }
}

/** A cheap test for a number that JavaScript may round. Most texts contain none. */
const longNumber = /\d[\d.]{15}|\d[eE][+-]?\d{3}/;
const jsonNumber = /^-?(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/**
 * Quotes every number in JSON text that JavaScript would round, or turn into infinity. An id of 19
 * digits thus keeps its digits. Fractions within the safe integer range are rounded as usual.
 */
export function keepDigits(json: string): string {
  if (!longNumber.test(json)) return json;
  let isInside = false;
  return json.replace(/"|\\[^]|-?\d[\d.eE+-]*/g, (token) => {
    if (token === '"') isInside = !isInside;
    return !isInside && losesDigits(token) ? `"${token}"` : token;
  });
}

function losesDigits(token: string): boolean {
  const digits = significantDigits(token);
  const value = Number(token);
  if (digits === undefined) return false;
  const isOrdinary = Math.abs(value) <= Number.MAX_SAFE_INTEGER && value !== 0;
  return !isOrdinary && digits !== significantDigits(String(value));
}

/**
 * Returns a number's digits and power of ten, which are the same for equal numbers in any notation.
 */
function significantDigits(number: string): string | undefined {
  const [, whole, fraction = "", exponent = "0"] = jsonNumber.exec(number) ?? [];
  if (whole === undefined) return undefined;
  const digits = (whole + fraction).replace(/^0+/, "");
  const significant = digits.replace(/0+$/, "");
  const power = Number(exponent) - fraction.length + digits.length - significant.length;
  return significant === "" ? "0" : `${significant}e${power}`;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Makes all fields of `T` optional. For options: absent and `undefined` both mean "not given". */
export type Optional<T> = { [K in keyof T]?: T[K] | undefined };

/** Options with every default filled in. */
export type Filled<T> = { [K in keyof T]-?: Exclude<T[K], undefined> };

type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** Returns the fields that are not undefined. Requests and messages leave out unknown fields. */
export function defined<T extends object>(fields: T): Defined<T> {
  const kept: Partial<T> = {};
  for (const key in fields) if (fields[key] !== undefined) kept[key] = fields[key];
  return kept as unknown as Defined<T>;
}

/** Returns the value if it is an object, otherwise an empty object. */
export function asRecord(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}

/** Returns the value if it is an array, otherwise an empty array. */
export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns a finite number from a number or a numeric string, otherwise undefined. */
export function asNumber(value: unknown): number | undefined {
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? number : undefined;
}

/** Returns a count, such as of tokens, from a number or a numeric string. Undefined if negative. */
export function asCount(value: unknown): number | undefined {
  const number = asNumber(value) ?? -1;
  return number < 0 ? undefined : number;
}

/** Returns the value if it is a string, otherwise an empty string. */
export function asText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/**
 * Serialises a value as JSON, with a bigint as a string of its digits, because schemas may produce
 * bigints. Throws for cycles.
 */
export function jsonText(value: unknown): string | undefined {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === "bigint" ? String(part) : part,
  );
}

/**
 * Returns whether JSON represents the value completely: null, texts, booleans, finite numbers, and
 * arrays and plain objects of them. Fields that are undefined count as absent.
 */
export function isJson(value: unknown): boolean {
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object") return typeof value === "string" || typeof value === "boolean";
  if (value === null) return true;
  if (Array.isArray(value)) return value.every(isJson);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) return false;
  return Object.values(value).every((part) => part === undefined || isJson(part));
}
