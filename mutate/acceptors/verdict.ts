/** What an acceptor says of a stream. */

/** A call as the stream holds it. */
export interface HeldCall {
  /** Absent where the server gave none. */
  readonly id: string | undefined;
  readonly name: string;
  /** The JSON text, whole; it may be none. */
  readonly arguments: string;
  /** Set where the documentation's reading gives other arguments, which are no JSON. */
  readonly mayBeRefused?: true;
}

export interface Held {
  readonly text: string;
  readonly calls: readonly HeldCall[];
  /**
   * Whether the model said that it was done, whether a limit cut it, or whether the server said
   * that it failed (an error, a refusal, a filter).
   */
  readonly ending: "complete" | "cut" | "failed";
}

/**
 * `legal` is what the wire's documentation allows. `doubtful` is what it does not allow and real
 * servers are known to send: a decoder may refuse it, or take exactly what it holds. `reason` is
 * one of few texts, so that streams can be grouped by it.
 */
export type Verdict =
  | { readonly is: "legal"; readonly held: Held }
  | { readonly is: "doubtful"; readonly held: Held; readonly reason: string }
  | { readonly is: "illegal"; readonly reason: string };

/** Thrown where a stream breaks its wire's grammar. */
export class Illegal extends Error {}

/**
 * Says what is doubted, and still taken. `"text"`: it is taken for a text, and never for calls.
 */
export type Doubt = (reason: string, of?: "text") => void;

/** Runs an acceptor. */
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

/** The JSON object in a text. */
export function parseObject(text: string): Json {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Illegal("data that is no JSON");
  }
  must(isObject(value), "data that is no JSON object");
  return value;
}

export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value as an object; an empty one for anything else. */
export function asObject(value: unknown): Json {
  return isObject(value) ? value : {};
}

export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function asText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Whether each value is there once. */
export function areUnique(values: readonly unknown[]): boolean {
  return new Set(values).size === values.length;
}
