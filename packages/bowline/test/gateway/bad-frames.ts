/**
 * Frames of every kind, generated from the schemas, with the reaction that the protocol's
 * description requires.
 */
import fc from "fast-check";
import type { JsonSchema } from "@bowline/core";
import { closeCodes, errorNumbers } from "../../src/gateway/protocol/frame.ts";
import { defaultLimits } from "../../src/gateway/protocol/limits.ts";
import { methods } from "../../src/gateway/protocol/schema.ts";

export type AnyFrame = string | Buffer;
type Json = Readonly<Record<string, unknown>>;

/**
 * The required reaction to a frame: an answer, with this error number if given, or a close code.
 */
export type Expected =
  | { readonly kind: "answer"; readonly id: string | number | null; readonly error?: number }
  | { readonly kind: "close"; readonly code: number };

/** A small set of sessions, so that requests collide. */
const keys = Array.from({ length: 30 }, (_, index) => `session ${index}`);
export const key: fc.Arbitrary<string> = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...keys) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      "__proto__",
      "../../etc/passwd",
      "a/b\\c\0d",
      "\u{1F9F5}",
      "\ud800",
      "con",
    ),
  },
  { weight: 1, arbitrary: fc.constantFrom(256, 257).map((count) => "\u{1F9F5}".repeat(count)) },
  { weight: 1, arbitrary: fc.string({ minLength: 1, maxLength: 5, unit: "binary" }) },
);
/** A placeholder for a value nested so deeply that it can be parsed but hardly written. */
const deep = fc.constantFrom(10, 999, 5000, 100_000).map((depth) => `nested ${depth}`);
export const write = (value: unknown): string =>
  JSON.stringify(value).replaceAll(
    /"nested (\d+)"/g,
    (_, depth) => "[".repeat(+depth) + "]".repeat(+depth),
  );
const odd = fc.oneof(
  { weight: 6, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  fc.constantFrom<unknown>(
    null,
    "",
    -1,
    1e308,
    2 ** 60,
    0.5,
    true,
    [],
    {},
    [null],
    '{"sessionKey":"s"}',
    "\ud800",
  ),
  fc.constantFrom(600, 5000, 400_000).map((length) => "x".repeat(length)),
  { weight: 1, arbitrary: deep },
  fc.constant(
    Object.fromEntries(Array.from({ length: 3000 }, (_, index) => [`field ${index}`, index])),
  ),
);
const badName = fc.constantFrom(
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "",
  "x".repeat(300_000),
  "id",
);

/** Valid params. */
export function paramsOf({ properties = {}, required = [] }: JsonSchema): fc.Arbitrary<Json> {
  const fields = Object.entries(properties as Record<string, JsonSchema>).map(
    ([name, schema]) => [name, /sessionKey$/i.test(name) ? key : valueOf(schema)] as const,
  );
  return fc.record(Object.fromEntries(fields), { requiredKeys: required as never[] });
}

function valueOf(schema: JsonSchema): fc.Arbitrary<unknown> {
  const { type, enum: options, minLength = 0, maxLength, minimum, maximum, pattern } = schema;
  if (type === "object") return paramsOf(schema);
  if (type === "array")
    return fc.array(valueOf(schema.items as JsonSchema), { minLength: 1, maxLength: 3 });
  if (pattern !== undefined) return fc.constantFrom("AAAA", "iVBORw0KGgo=", "A".repeat(4000));
  if (Array.isArray(options)) return fc.constantFrom<unknown>(...(options as unknown[]));
  if (type === "integer")
    return fc.integer({
      min: (minimum as number) ?? -1000,
      max: Math.min((maximum as number) ?? 1000, 1000),
    });
  const longest = (maxLength as number) ?? 50;
  return fc.oneof(
    {
      weight: 5,
      arbitrary: fc.string({ minLength: minLength as number, maxLength: Math.min(longest, 20) }),
    },
    { weight: 5, arbitrary: fc.constantFrom("one", "two", "three") },
    {
      weight: 1,
      arbitrary: fc.string({ minLength: minLength as number, maxLength: 20, unit: "binary" }),
    },
    { weight: 1, arbitrary: fc.constantFrom("y".repeat(longest), "\udc00") },
  );
}

/** Params with a random change. */
export function spoiled(schema: JsonSchema): fc.Arbitrary<unknown> {
  const names = Object.keys(schema.properties ?? {});
  const name = names.length === 0 ? badName : fc.oneof(fc.constantFrom(...names), badName);
  return fc.oneof(
    {
      weight: 5,
      arbitrary: fc
        .tuple(paramsOf(schema), name, odd)
        .map(([params, at, value]) => set(params, at, value)),
    },
    {
      weight: 2,
      arbitrary: fc.tuple(paramsOf(schema), name).map(([params, at]) => set(params, at, undefined)),
    },
    { weight: 1, arbitrary: odd },
  );
}

/** Sets a field, also `__proto__` as an own property. */
function set(params: Json, name: string, value: unknown): Json {
  const rest = Object.entries(params).filter(([other]) => other !== name);
  return Object.fromEntries(value === undefined ? rest : [...rest, [name, value]]);
}

const id = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 5 }) },
  { weight: 6, arbitrary: fc.uuid() },
  { weight: 2, arbitrary: fc.string({ maxLength: 3 }) },
  fc.constantFrom<unknown>(
    null,
    true,
    {},
    [],
    -1.5,
    2 ** 53,
    1e308,
    "",
    "__proto__",
    "z".repeat(200),
  ),
  fc.constantFrom("z".repeat(201), "z".repeat(100_000)),
);
const request = fc.oneof(
  ...Object.entries(methods).map(([method, { params }]) =>
    fc
      .tuple(id, fc.oneof(paramsOf(params), spoiled(params)))
      .map(([given, made]) => write({ id: given, method, params: made })),
  ),
);
const notRequest = fc.oneof(
  fc
    .tuple(
      id,
      fc.oneof(
        fc.constantFrom("nothing", "constructor", "__proto__", "toString", "", "m".repeat(5000)),
        odd,
      ),
    )
    .map(([given, method]) => write({ id: given, method })),
  fc.json(),
  odd.map(write),
  fc.constantFrom(
    '{"id":1e999,"method":"health.check"}',
    '{"__proto__":{"id":1,"method":"health.check"}}',
    "null",
  ),
);
export const notJson: fc.Arbitrary<string> = fc.oneof(
  fc.string({ maxLength: 50 }),
  fc.constantFrom(
    "",
    " ",
    "{",
    '{"id":1,}',
    "\ufeff{}",
    "NaN",
    "[".repeat(20_000),
    '{"a":'.repeat(3000),
  ),
  fc.tuple(request, fc.nat()).map(([text, at]) => text.slice(0, at % text.length)),
);
const auth = fc.oneof(
  fc.constantFrom('{"type":"auth"}', '{"type":"auth","token":"no"}', '{"type":"auth","token":{}}'),
  fc.constant(JSON.stringify({ type: "auth", token: "t".repeat(5000) })),
  fc.record({ type: fc.constant("auth"), token: odd, events: odd, client: odd }).map(write),
);
const binary = fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes));

/** Mostly frames that keep the connection open. */
export const badFrame: fc.Arbitrary<AnyFrame> = fc.oneof(
  { weight: 200, arbitrary: request },
  { weight: 40, arbitrary: notRequest },
  { weight: 20, arbitrary: notJson },
  { weight: 1, arbitrary: auth },
  { weight: 1, arbitrary: binary },
);

/** Enough invalid frames in a row to be disconnected before the last. */
export const garbage: fc.Arbitrary<AnyFrame[]> = fc.array(
  fc.oneof(notJson, fc.constantFrom("{}", "[]", "1")),
  {
    minLength: 25,
    maxLength: 40,
  },
);

/** Several frames, some of them sent twice. */
export const badFrames = (most: number): fc.Arbitrary<AnyFrame[]> =>
  fc
    .array(fc.tuple(badFrame, fc.integer({ min: 0, max: 9 })), { minLength: 1, maxLength: most })
    .map((frames) => frames.flatMap(([frame, again]) => (again === 0 ? [frame, frame] : [frame])));

/**
 * Returns the expected reaction to each frame after authentication, up to the first that ends the
 * connection.
 */
export function expectAfterAuth(frames: readonly AnyFrame[]): Expected[] {
  const expected: Expected[] = [];
  let bad = 0;
  for (const frame of frames) {
    const one = expectOne(frame);
    expected.push(one);
    if (one.kind === "close") return expected;
    const isBad = one.error === errorNumbers.parse || one.error === errorNumbers.bad_request;
    // A frame with a refused method or params neither increases nor resets the counter.
    bad = isBad ? bad + 1 : one.error === undefined ? 0 : bad;
    if (bad >= defaultLimits.maxBadFrames)
      return [...expected, { kind: "close", code: closeCodes.badFrames }];
  }
  return expected;
}

function expectOne(frame: AnyFrame): Expected {
  if (Buffer.byteLength(frame) > defaultLimits.maxFrameBytes)
    return { kind: "close", code: closeCodes.tooLarge };
  if (typeof frame !== "string") return { kind: "close", code: closeCodes.unsupported };
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(frame).toString()); // as it arrives: UTF-8 replaces a lone surrogate
  } catch {
    return { kind: "answer", id: null, error: errorNumbers.parse };
  }
  const given: Json =
    typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : {};
  if (given.type === "auth") return { kind: "close", code: closeCodes.secondAuth };
  const isId = typeof given.id === "string" ? given.id.length <= 200 : Number.isFinite(given.id);
  const own = isId ? (given.id as string | number) : null;
  if (own === null || typeof given.method !== "string")
    return { kind: "answer", id: own, error: errorNumbers.bad_request };
  const schema = Object.entries(methods).find(([name]) => name === given.method)?.[1].params;
  if (schema === undefined) return { kind: "answer", id: own, error: errorNumbers.unknown_method };
  const isFitting = fitsMethod(schema, given.params === undefined ? {} : given.params);
  return { kind: "answer", id: own, ...(!isFitting && { error: errorNumbers.bad_params }) };
}

/** Checks the schema and the ids, whose rules a schema cannot express. */
export function fitsMethod(schema: JsonSchema, params: unknown): boolean {
  return (
    fits(schema, params) &&
    Object.entries(params as Json).every(([name, value]) => isWellFormedId(name, value))
  );
}

function isWellFormedId(name: string, value: unknown): boolean {
  if (typeof value !== "string" || !/(?:Key|Id)$/.test(name)) return true;
  return value.isWellFormed() && (!/sessionKey$/i.test(name) || value.length <= 512);
}

/**
 * Implements the part of JSON Schema that the methods' params use, independently of the server's
 * validator.
 */
function fits(schema: JsonSchema, value: unknown): boolean {
  const {
    type,
    properties = {},
    required = [],
    enum: options,
    minLength = 0,
    maxLength = Infinity,
  } = schema;
  const {
    minimum = -Infinity,
    maximum = Infinity,
    minItems = 0,
    maxItems = Infinity,
    pattern = "",
  } = schema;
  if (Array.isArray(options)) return options.includes(value);
  if (type === "string") {
    if (typeof value !== "string") return false;
    const length = Array.from(value).length; // a surrogate pair counts as one
    if (!new RegExp(pattern as string, "u").test(value)) return false;
    return length >= (minLength as number) && length <= (maxLength as number);
  }
  if (type === "array") {
    if (
      !Array.isArray(value) ||
      value.length < (minItems as number) ||
      value.length > (maxItems as number)
    )
      return false;
    return value.every((item) => fits(schema.items as JsonSchema, item));
  }
  if (type === "integer")
    return (
      Number.isInteger(value) &&
      (value as number) >= (minimum as number) &&
      (value as number) <= (maximum as number)
    );
  if (type !== "object") throw new Error(`a type that this does not know: ${JSON.stringify(type)}`);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  if (!(required as string[]).every((name) => Object.hasOwn(value, name))) return false;
  return Object.entries(value).every(
    ([name, field]) =>
      Object.hasOwn(properties as Json, name) &&
      fits((properties as Record<string, JsonSchema>)[name] ?? {}, field),
  );
}
