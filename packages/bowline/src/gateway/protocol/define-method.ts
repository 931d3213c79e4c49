/** What a method's declaration has: who may call it, what its params refer to, and its schemas. */
import type { JsonSchema } from "@bowline/core";
import type { MethodName, Params, Result } from "./protocol.ts";
import { object, type Fields } from "./schema-fields.ts";

/** A token for reading may call `read` only. To answer a question is `approve`. */
export type MethodAccess = "read" | "write" | "approve";

/**
 * What a text among the params refers to. For who has sessions of their own each but the last three
 * has to be of one of these: `gateway/access` holds them to it. Of `session` and `newSession` the
 * second is made when it is not given; `message` is an idempotency key; `entry` is looked for in
 * the session that is named beside it.
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

/** The params that are texts. */
type TextParams<P> = {
  [K in keyof P]-?: Extract<P[K], string> extends never ? never : K;
}[keyof P];

/** Each of them has to be told: one that is not does not compile. */
type References<P> = { readonly [K in TextParams<P>]: Reference };

export interface MethodSchema {
  readonly summary: string;
  readonly access: MethodAccess;
  /** What each text among the params refers to, by the param's name. */
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

/** Held to the method's own types; its name stands before it in the table. */
export function defineMethod<M extends MethodName>(
  summary: string,
  { access, refersTo, params, result }: Declaration<M>,
): MethodSchema {
  return { summary, access, refersTo, params: asObject(params), result: asObject(result) };
}

function asObject<T>(schema: JsonSchema | Fields<T>): JsonSchema {
  return "type" in schema && schema.type === "object" ? schema : object<T>(schema as Fields<T>);
}
