/** JSON values: in words, as text, compared, read. */

/** A schema is a JSON value itself, of keywords. */
export type JsonSchema = Record<string, unknown>;

/** What a value is, in words: `the string "x"`, `number 5`, `an array`. */
export function describe(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "string") return `the string ${JSON.stringify(shorten(value, 40))}`;
  if (isRecord(value)) return "an object";
  if (typeof value === "number" || typeof value === "boolean") return `${typeof value} ${value}`;
  return value === undefined ? "nothing" : `a ${typeof value}`;
}

/** The text, or its beginning with an ellipsis. */
export function shorten(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}…` : text;
}

/** `a.b` and 0 as `a.b[0]`. */
export function joinPath(path: string, key: PropertyKey): string {
  if (typeof key === "number") return `${path}[${key}]`;
  return path === "" ? String(key) : `${path}.${String(key)}`;
}

/** JSON with its names in order: the same text for equal values. */
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

/** In decimals, as they are written: 0.3 is a multiple of 0.1. */
export function isMultiple(value: number, step: number): boolean {
  const isWhole = Number.isInteger(value) && Number.isInteger(step);
  return isWhole ? value % step === 0 : Number.isInteger(Number((value / step).toPrecision(15)));
}

/**
 * What a text says as JSON, if JavaScript can hold it. A `reviver` that throws says that it is
 * none.
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

/** What may be a number with more digits than JavaScript keeps: most texts hold none. */
const longNumber = /\d[\d.]{15}|\d[eE][+-]?\d{3}/;
const jsonNumber = /^-?(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/**
 * JSON in which a number that JavaScript would round to other digits, or to infinity, is a text of
 * its digits: an id of 19 digits stays that id. Fractions within the range of whole numbers are
 * rounded as always.
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

/** A number's digits and their power of ten: the same for equal numbers, however written. */
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

/** All fields of `T`, for options: absent and `undefined` both mean "not given". */
export type Optional<T> = { [K in keyof T]?: T[K] | undefined };

/** Options with every default filled in. */
export type Filled<T> = { [K in keyof T]-?: Exclude<T[K], undefined> };

type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** The fields that have a value: on a wire and in a message, what is unknown is absent. */
export function defined<T extends object>(fields: T): Defined<T> {
  const kept: Partial<T> = {};
  for (const key in fields) if (fields[key] !== undefined) kept[key] = fields[key];
  return kept as unknown as Defined<T>;
}

/** The value if it is an object; otherwise an empty one. */
export function asRecord(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}

/** The value if it is an array; otherwise an empty one. */
export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The value if it is a number, or the one that a text says. */
export function asNumber(value: unknown): number | undefined {
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? number : undefined;
}

/** The value as a count, of tokens for one: a number, or one that a text says, from 0 up. */
export function asCount(value: unknown): number | undefined {
  const number = asNumber(value) ?? -1;
  return number < 0 ? undefined : number;
}

/** The value if it is a text; otherwise an empty one. */
export function asText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/**
 * A value as JSON, with what a schema may have made of it: a bigint is its digits. Throws for
 * cycles.
 */
export function jsonText(value: unknown): string | undefined {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === "bigint" ? String(part) : part,
  );
}
