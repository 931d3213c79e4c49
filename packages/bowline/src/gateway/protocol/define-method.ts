/** The declaration of a method: who may call it, what its params refer to, and its schemas. */
import type { JsonSchema } from "@bowline/core";
import type { MethodName, Params, Result } from "./protocol.ts";
import { object, type Fields } from "./schema-fields.ts";

/** A read-only token may call `read` methods only. Answering an approval is `approve`. */
export type MethodAccess = "read" | "write" | "approve";

/**
 * The kind of thing that a string param names. `gateway/access` checks the references of clients that may only
 * access some sessions; the last three need no check. `newSession` is generated when absent.
 * `message` is an idempotency key. `entry` belongs to the session in the same params.
 */
export type Reference =
  | "session"
  | "newSession"
  | "run"
  | "message"
  | "approval"
  | "decision"
  | "entry"
  | "agent"
  | "text";

/** The params that are strings. */
type TextParams<P> = {
  [K in keyof P]-?: Extract<P[K], string> extends never ? never : K;
}[keyof P];

/** Requires an entry for every string param. */
type References<P> = { readonly [K in TextParams<P>]: Reference };

export interface MethodSchema {
  readonly summary: string;
  readonly access: MethodAccess;
  /** The reference of each string param, by the param's name. */
  readonly refersTo: Readonly<Record<string, Reference>>;
  readonly params: JsonSchema;
  readonly result: JsonSchema;
}

interface Declaration<M extends MethodName> {
  readonly access: MethodAccess;
  readonly refersTo: References<Params<M>>;
  readonly params: JsonSchema | Fields<Params<M>>;
  readonly result: JsonSchema | Fields<Result<M>>;
}

/** Declares a method. The compiler checks it against the method's types. */
export function defineMethod<M extends MethodName>(
  summary: string,
  { access, refersTo, params, result }: Declaration<M>,
): MethodSchema {
  return { summary, access, refersTo, params: asObject(params), result: asObject(result) };
}

function asObject<T>(schema: JsonSchema | Fields<T>): JsonSchema {
  return isObjectSchema(schema) ? schema : object<T>(schema);
}

function isObjectSchema<T>(schema: JsonSchema | Fields<T>): schema is JsonSchema {
  return (schema as { readonly type?: unknown }).type === "object";
}
