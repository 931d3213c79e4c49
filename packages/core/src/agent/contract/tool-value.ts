/**
 * Converts the return value of a tool's function to a result. Values that JSON cannot represent are
 * refused, so nothing is lost silently.
 */
import { BowlineError, errorText } from "../../errors.ts";
import { defined, isRecord } from "../../json-value.ts";
import { unsupported } from "../../llm/message.ts";
import type { AgentToolUpdateCallback } from "./tool.ts";
import { textResult, type AgentToolResult, type CheckedToolResult } from "./tool-result.ts";

/**
 * The values that `execute` may return. A string is the text of the result, and `undefined` is an
 * empty result. An object is an {@link AgentToolResult} if its `content` is an array or if it has
 * only fields of that type. Any other value becomes JSON text: numbers, booleans, null, arrays,
 * plain objects, and class instances with own fields or a `toJSON`. A value that JSON cannot
 * represent fails the call: a Response, a Map, an Error, bytes, a function, a bigint, NaN, a cycle.
 */
export type ToolValue<TDetails = unknown> =
  | AgentToolResult<TDetails>
  | string
  | number
  | boolean
  | object
  | null
  | undefined
  | void;

/**
 * The return types of `execute`: a value, a promise of it, or an async generator. Each yielded
 * value is reported as progress. The generator's return value, or else its last yielded value, is
 * the result.
 */
export type ToolReturn<TDetails = unknown> =
  | ToolValue<TDetails>
  | Promise<ToolValue<TDetails>>
  | AsyncGenerator<ToolValue<TDetails>, ToolValue<TDetails>>;

const resultFields: readonly string[] = [
  "content",
  "details",
  "isError",
  "terminate",
] satisfies (keyof AgentToolResult)[];

/**
 * Awaits what `execute` returned and converts it to a result. A generator is read to its end.
 * Rejects with `invalid_argument` for an invalid result, or a value that JSON cannot represent.
 */
export async function resultOf<TDetails>(
  given: ToolReturn<TDetails>,
  update: AgentToolUpdateCallback<TDetails> | undefined,
  signal: AbortSignal | undefined,
): Promise<CheckedToolResult<TDetails>> {
  const value = await given;
  return (await (isGenerator(value) ? read(value, update, signal) : toResult(value))) as never;
}

/**
 * Resolves with what a generator returned, or else its last yielded value. After an abort, stops at
 * the next yielded value.
 */
async function read(
  steps: AsyncGenerator,
  update: AgentToolUpdateCallback<never> | undefined,
  signal: AbortSignal | undefined,
): Promise<CheckedToolResult> {
  let last: CheckedToolResult | undefined;
  try {
    for (;;) {
      const { done, value } = await steps.next();
      if (done) return value === undefined && last ? last : toResult(value);
      last = toResult(value);
      signal?.throwIfAborted();
      update?.(last as never);
    }
  } finally {
    await steps.return?.(undefined); // no effect after the generator has ended
  }
}

function isGenerator(value: unknown): value is AsyncGenerator {
  return isRecord(value) && Symbol.asyncIterator in value && "next" in value;
}

function toResult(value: unknown): CheckedToolResult {
  if (value === undefined) return { content: [] };
  if (typeof value === "string") return textResult(value);
  if (!isRecord(value) || !isResult(value)) return textResult(toJson(value));
  const { content = [], details, isError, terminate, ...others } = value as AgentToolResult;
  const fault = Array.isArray(content)
    ? content.map(unsupported).find((why) => why !== undefined)
    : "It must be a list of parts.";
  if (fault) throw invalid(`The tool returned no { content } of text, images or files. ${fault}`);
  return { ...others, ...defined({ details, isError, terminate }), content };
}

/**
 * Only a plain object is a result by its keys, because the fields of a class instance may be
 * accessors, which are not own keys.
 */
function isResult(value: Record<string, unknown>): boolean {
  if (Array.isArray(value.content)) return true;
  return isPlain(value) && Object.keys(value).every((key) => resultFields.includes(key));
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/**
 * Serialises a value. Throws `invalid_argument` for a value that JSON cannot represent completely.
 */
export function toJson(value: unknown): string {
  try {
    return JSON.stringify(value, (_, part: unknown) => representable(part));
  } catch (error) {
    if (error instanceof BowlineError) throw error;
    const why = error instanceof RangeError ? "It is nested too deep." : errorText(error);
    throw invalid(`The tool returned a value that is not JSON: ${why.split("\n")[0]}`);
  }
}

/** Returns the part as is. Throws for a part whose content JSON would leave out. */
function representable(part: unknown): unknown {
  const isLost =
    /^(?:bigint|function|symbol)$/.test(typeof part) ||
    (typeof part === "number" && !Number.isFinite(part)) ||
    part instanceof Error ||
    ArrayBuffer.isView(part) ||
    (isRecord(part) && !isPlain(part) && Object.keys(part).length === 0);
  if (!isLost) return part;
  throw invalid(
    `The tool returned ${nameOf(part)}, which is not JSON. Return text, or an object with the relevant fields.`,
  );
}

function nameOf(part: unknown): string {
  if (typeof part === "number") return String(part);
  const name = typeof part === "object" ? part?.constructor?.name || "object" : typeof part;
  return `${/^[aeiou]/i.test(name) ? "an" : "a"} ${name}`;
}

function invalid(message: string): BowlineError {
  return new BowlineError("invalid_argument", message);
}
