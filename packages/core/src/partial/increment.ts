/** The increments of a growing JSON value, and how a reader applies them. */
import { BowlineError } from "../errors.ts";
import { isRecord } from "../json-value.ts";

/** The keys and indices from the whole value to a part. Empty for the whole value. */
export type PartialPath = readonly (string | number)[];

/**
 * One step of a growing value. `append` adds text to the string at `path`. `set` puts a value
 * there: a complete number, boolean or null, the first piece of a string, or an empty object or
 * array that later steps fill.
 */
export type Increment =
  | { readonly op: "append"; readonly path: PartialPath; readonly increment: string }
  | { readonly op: "set"; readonly path: PartialPath; readonly increment: IncrementValue };

export type IncrementValue =
  | string
  | number
  | boolean
  | null
  | readonly never[]
  | Readonly<Record<string, never>>;

/**
 * Applies one increment to a reader's copy and returns the copy. Pass `undefined` for the first
 * increment, and after a reset. Changes the copy in place. Throws `invalid_argument` for an
 * increment that does not fit the copy, for example because an earlier one was lost.
 */
export function applyIncrement(value: unknown, { op, path, increment }: Increment): unknown {
  const last = path.at(-1);
  if (last === undefined) return op === "set" ? copyOf(increment) : append(value, increment);
  let parent = value;
  for (const key of path.slice(0, -1)) parent = own(parent, key);
  const part = op === "set" ? copyOf(increment) : append(own(parent, last), increment);
  if (
    Array.isArray(parent) ? !isIndex(parent, last) : !isRecord(parent) || typeof last !== "string"
  )
    throw unfit();
  setOwn(parent as object, last, part);
  return value;
}

/** Assigns an own property, also for the name `__proto__`. */
export function setOwn(parent: object, key: string | number, value: unknown): void {
  if (key !== "__proto__") (parent as Record<string | number, unknown>)[key] = value;
  else
    Object.defineProperty(parent, key, {
      value,
      configurable: true,
      enumerable: true,
      writable: true,
    });
}

/** An array has no gaps: an index is that of an item or the next one. */
function isIndex(array: readonly unknown[], key: string | number): boolean {
  return typeof key === "number" && Number.isInteger(key) && key >= 0 && key <= array.length;
}

function own(parent: unknown, key: string | number): unknown {
  if (typeof parent !== "object" || parent === null || !Object.hasOwn(parent, key)) throw unfit();
  return (parent as Record<string | number, unknown>)[key];
}

function append(text: unknown, more: unknown): string {
  if (typeof text !== "string" || typeof more !== "string") throw unfit();
  return text + more;
}

/** Returns a fresh container, so that the event is not changed by later increments. */
function copyOf(value: unknown): unknown {
  if (Array.isArray(value)) return [];
  return isRecord(value) ? {} : value;
}

function unfit(): BowlineError {
  return new BowlineError(
    "invalid_argument",
    "The increment does not fit the value. Apply every increment in order, and begin again after a reset.",
  );
}
