/** The verdict of an acceptor on a stream. */

/** A call in the stream. */
export interface HeldCall {
  /** Absent if the server sent none. */
  readonly id: string | undefined;
  readonly name: string;
  /** The complete argument text, which may not be valid JSON. */
  readonly arguments: string;
  /** Set if the documented reading gives other arguments, which are not JSON. */
  readonly mayBeRefused?: true;
}

export interface Held {
  readonly text: string;
  readonly calls: readonly HeldCall[];
  /**
   * Whether the model completed the answer, a limit cut it, or the server reported a failure (an
   * error, a refusal, a filter).
   */
  readonly ending: "complete" | "cut" | "failed";
}

/**
 * `legal`: the wire's documentation allows the stream. `doubtful`: it does not, but real servers
 * send it; a decoder may refuse it, or read exactly what is `held`. `reason` is one of a few texts,
 * so that streams can be grouped by it.
 */
export type Verdict =
  | { readonly is: "legal"; readonly held: Held }
  | { readonly is: "doubtful"; readonly held: Held; readonly reason: string }
  | { readonly is: "illegal"; readonly reason: string };

/** Thrown if a stream breaks its wire's grammar. */
export class Illegal extends Error {}

/**
 * Reports a doubt about something that is still accepted. With `"text"` it is accepted in answers
 * without calls only.
 */
export type Doubt = (reason: string, of?: "text") => void;

/** Runs an acceptor and returns its verdict. */
export function judge(accept: (doubt: Doubt) => Held): Verdict {
  let reason: string | undefined;
  let ofText: string | undefined;
  try {
    const held = accept((why, of) => {
      reason ??= why;
      if (of === "text") ofText ??= why;
    });
    if (ofText !== undefined && held.calls.length > 0) return { is: "illegal", reason: ofText };
    return reason === undefined ? { is: "legal", held } : { is: "doubtful", held, reason };
  } catch (error) {
    if (error instanceof Illegal) return { is: "illegal", reason: error.message };
    throw error;
  }
}

/** Throws {@link Illegal} unless the condition holds. */
export function must(condition: boolean, reason: string): asserts condition {
  if (!condition) throw new Illegal(reason);
}

export type Json = { readonly [key: string]: unknown };

/** Parses a JSON object. Throws {@link Illegal} for anything else. */
export function parseObject(text: string): Json {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Illegal("data that is not JSON");
  }
  must(isObject(value), "data that is not a JSON object");
  return value;
}

export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the value if it is an object, else an empty object. */
export function asObject(value: unknown): Json {
  return isObject(value) ? value : {};
}

export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function asText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Returns whether all values are different. */
export function areUnique(values: readonly unknown[]): boolean {
  return new Set(values).size === values.length;
}
