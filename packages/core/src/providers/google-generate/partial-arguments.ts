/**
 * Assembles streamed arguments, which arrive as values with paths and as pieces of strings, into
 * growing JSON text. A model writes arguments in order, so a path that goes back or skips an entry
 * is invalid. The text then never ends, and the call is answered with an error instead of run.
 */
// Q203
import { asText } from "../../json-value.ts";
import { field, type Json } from "./fields.ts";

/** An open object or array, and its last entry. */
interface Frame {
  readonly isArray: boolean;
  /** The names of an object's entries. A name must not occur twice. */
  readonly names: Set<unknown>;
  size: number;
  last: string | number | undefined;
}

export class PartialArguments {
  /** From the outermost object inwards. */
  readonly #frames: Frame[] = [];
  /** The path of the string that is still open. */
  #string: string | undefined;
  #isBroken = false;
  #hasText = false;

  /** Returns the JSON text that a piece adds. */
  add(piece: Json): string {
    const text = this.#isBroken ? "" : this.#next(piece);
    if (text === undefined) return this.fail();
    this.#hasText ||= text !== "";
    return text;
  }

  /** Whether the pieces do not form complete arguments, so the text has no end. */
  get isBroken(): boolean {
    return this.#isBroken;
  }

  /** Returns the end of the text. A string that is still open makes the arguments broken. */
  end(): string {
    this.#isBroken ||= this.#string !== undefined;
    return this.#isBroken ? "" : this.#close(0);
  }

  /** Marks the arguments as broken. Their text never ends. */
  fail(): string {
    this.#isBroken = true;
    return this.#hasText ? "" : "{";
  }

  #next(piece: Json): string | undefined {
    const path = asText(field(piece, "jsonPath"));
    const goesOn = field(piece, "willContinue") === true;
    let value = valueOf(piece);
    if (value === undefined && (goesOn || path === this.#string)) value = "";
    if (path === this.#string) {
      if (typeof value !== "string") return undefined;
      if (!goesOn) this.#string = undefined;
      return escaped(value) + (goesOn ? "" : '"');
    }
    if (this.#string !== undefined) return undefined;
    const keys = parsePath(path);
    const place = keys === undefined || value === undefined ? undefined : this.#moveTo(keys);
    if (place === undefined || typeof value !== "string")
      return place && place + JSON.stringify(value);
    if (goesOn) this.#string = path;
    return `${place}"${escaped(value)}${goesOn ? "" : '"'}`;
  }

  /**
   * Returns the text between the last value and the one at `keys`, or undefined if that position is
   * invalid.
   */
  #moveTo(keys: readonly (string | number)[]): string | undefined {
    let text = this.#frames.length === 0 ? this.#open(false) : "";
    let depth = 0;
    while (
      depth < this.#frames.length - 1 &&
      depth < keys.length - 1 &&
      this.#frames[depth]?.last === keys[depth]
    )
      depth++;
    text += this.#close(depth + 1);
    for (; depth < keys.length; depth++) {
      const key = keys[depth] as string | number;
      if (depth === this.#frames.length) text += this.#open(typeof key === "number");
      const frame = this.#frames[depth] as Frame;
      const fits = frame.isArray
        ? key === frame.size
        : typeof key === "string" && !frame.names.has(key);
      if (!fits) return undefined;
      text += `${frame.size > 0 ? "," : ""}${frame.isArray ? "" : `${JSON.stringify(key)}:`}`;
      frame.last = key;
      frame.size++;
      if (!frame.isArray) frame.names.add(key);
    }
    return text;
  }

  #open(isArray: boolean): string {
    this.#frames.push({ isArray, names: new Set(), size: 0, last: undefined });
    return isArray ? "[" : "{";
  }

  /** Closes objects and arrays from the innermost up to `depth`. */
  #close(depth: number): string {
    let text = "";
    while (this.#frames.length > depth) text += this.#frames.pop()?.isArray === true ? "]" : "}";
    return text;
  }
}

function valueOf(piece: Json): unknown {
  const value =
    field(piece, "stringValue") ?? field(piece, "numberValue") ?? field(piece, "boolValue");
  if (value !== undefined) return value;
  if ("nullValue" in piece || "null_value" in piece) return null;
  return field(piece, "structValue") ?? field(piece, "listValue");
}

function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** Parses a path such as `$.a[0]['b c']` into its keys. Returns undefined for anything else. */
function parsePath(path: string): (string | number)[] | undefined {
  const step = /\.([^.[\]]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\[("(?:[^"\\]|\\.)*")\]/y;
  const keys: (string | number)[] = [];
  step.lastIndex = 1;
  while (path.startsWith("$") && step.lastIndex < path.length) {
    const match = step.exec(path);
    if (match === null) return undefined;
    const [, name, index, single, double] = match;
    if (index !== undefined) keys.push(Number(index));
    else
      keys.push(
        name ?? unquoted(double ?? `"${single?.replaceAll("\\'", "'").replaceAll('"', '\\"')}"`),
      );
  }
  return keys.length > 0 ? keys : undefined;
}

function unquoted(text: string): string {
  try {
    return JSON.parse(text) as string;
  } catch {
    return text.slice(1, -1); // an escape that is not valid in JSON
  }
}
