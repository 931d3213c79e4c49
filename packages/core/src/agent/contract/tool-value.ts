/** What a tool's function gives, as a result: by a closed rule, so that nothing is lost in silence. */
import { BowlineError, errorText } from "../../errors.ts";
import { defined, isRecord } from "../../json-value.ts";
import { unsupported } from "../../llm/message.ts";
import type { AgentToolUpdateCallback } from "./tool.ts";
import { textResult, type AgentToolResult, type CheckedToolResult } from "./tool-result.ts";

/**
 * What `execute` may give. A string is the text of the result, and nothing (`undefined`) is no
 * output. An {@link AgentToolResult} has a list as `content`, or no fields but its own. Any other
 * value is taken as JSON text: numbers, booleans, null, arrays, plain objects, objects with fields
 * of their own or a `toJSON`. What JSON cannot say whole fails the call: a Response, a Map, an Error,
 * bytes, a function, a bigint, NaN, a cycle.
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

/** A value, soon, or progress: what is yielded is told as it comes, the last is the result. */
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
 * The result of what `execute` gave: a promise is waited for, a generator read to its end. Rejects
 * with `invalid_argument` for what is no result and what JSON cannot say.
 */
export async function resultOf<TDetails>(
  given: ToolReturn<TDetails>,
  update: AgentToolUpdateCallback<TDetails> | undefined,
  signal: AbortSignal | undefined,
): Promise<CheckedToolResult<TDetails>> {
  const value = await given;
  return (await (isGenerator(value) ? read(value, update, signal) : toResult(value))) as never;
}

/** What a generator returned, or else yielded last. It is left at the next value after an abort. */
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
    await steps.return?.(undefined); // nothing, of one that has ended
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
  if (fault) throw invalid(`The tool gave no { content } of text or images. ${fault}`);
  return { ...others, ...defined({ details, isError, terminate }), content };
}

/** An instance of a class may have its fields from accessors, which are no keys of it. */
function isResult(value: Record<string, unknown>): boolean {
  if (Array.isArray(value.content)) return true;
  return isPlain(value) && Object.keys(value).every((key) => resultFields.includes(key));
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Throws `invalid_argument` for what JSON cannot say whole. */
export function toJson(value: unknown): string {
  try {
    return JSON.stringify(value, (_, part: unknown) => sayable(part));
  } catch (error) {
    if (error instanceof BowlineError) throw error;
    const why = error instanceof RangeError ? "It is nested too deep." : errorText(error);
    throw invalid(`The tool gave what JSON cannot say: ${why.split("\n")[0]}`);
  }
}

/** Gives the part back; throws for one of which JSON would leave out what it holds. */
function sayable(part: unknown): unknown {
  const isSilent =
    /^(?:bigint|function|symbol)$/.test(typeof part) ||
    (typeof part === "number" && !Number.isFinite(part)) ||
    part instanceof Error ||
    ArrayBuffer.isView(part) ||
    (isRecord(part) && !isPlain(part) && Object.keys(part).length === 0);
  if (!isSilent) return part;
  throw invalid(
    `The tool gave ${nameOf(part)}, which JSON cannot say: return text, or an object with the fields that matter.`,
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
