/**
 * Streamed arguments: values with their paths, strings in pieces, as JSON text that grows. A
 * model writes its arguments from first to last, so a path that goes back, or skips, is no argument
 * to run on: the text then stays without its end, which makes the call one that is answered with an
 * error.
 */
// Q203
import { asText } from "../../json-value.ts";
import { field, type Json } from "./fields.ts";

/** An object or array that is still open, and its entry that was written last. */
interface Frame {
  readonly isArray: boolean;
  /** The names of an object's entries; none may come twice. */
  readonly names: Set<unknown>;
  size: number;
  last: string | number | undefined;
}

export class PartialArguments {
  /** From the arguments themselves inwards. */
  readonly #frames: Frame[] = [];
  /** The path of the string that goes on. */
  #string: string | undefined;
  #isBroken = false;
  #hasText = false;

  /** The JSON text that a piece adds. */
  add(piece: Json): string {
    const text = this.#isBroken ? "" : this.#next(piece);
    if (text === undefined) return this.fail();
    this.#hasText ||= text !== "";
    return text;
  }

  /** Whether their text has no end, since the pieces do not make a whole. */
  get isBroken(): boolean {
    return this.#isBroken;
  }

  /** The end of the text. A string of which more was to come is cut. */
  end(): string {
    this.#isBroken ||= this.#string !== undefined;
    return this.#isBroken ? "" : this.#close(0);
  }

  /** Nothing can make these arguments whole any more: their text never ends. */
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
   * What stands between the last value and the one at `keys`; undefined when it cannot stand there.
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

  /** Closes what is open from `depth` inwards. */
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

/** `$.a[0]['b c']` as its keys; undefined for anything else. */
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
    return text.slice(1, -1); // an escape that JSON does not know
  }
}
