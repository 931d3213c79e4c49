/**
 * Reads the fields of a proxy's events without trusting them: checks what is used, and ignores what
 * is unknown.
 */
import { BowlineError, errorCodes, type ErrorCode, type ErrorInfo } from "../../errors.ts";
import { asRecord, asText, isRecord } from "../../json-value.ts";
import {
  unsupported,
  type AssistantMessage,
  type ToolCall,
  type WholeContent,
} from "../../llm/message.ts";
import { parseToolArguments } from "../../llm/tool-arguments.ts";
import type { Cost, Usage } from "../../llm/usage.ts";

type Json = Record<string, unknown>;

export function truncated(): BowlineError {
  return new BowlineError(
    "stream_truncated",
    "The proxy's stream ended before the answer was complete.",
    {
      retryable: true,
    },
  );
}

export function corrupt(why: string, cause?: unknown): BowlineError {
  return new BowlineError("stream_corrupt", `The proxy's stream cannot be trusted: ${why}.`, {
    retryable: true,
    cause,
  });
}

/** Copies known fields only, so others, such as `__proto__`, are not taken over. */
export function readCall(value: unknown, part: ToolCall): ToolCall {
  const { type, id, name, argumentsText: streamed = "" } = part;
  if (value === undefined) {
    const { arguments: args, error } = parseToolArguments(streamed);
    const defect = error === undefined ? {} : { argumentsError: error };
    return { type, id, name, arguments: args, argumentsText: streamed, ...defect };
  }
  if (!isRecord(value) || !isRecord(value.arguments)) throw corrupt("a tool call has no arguments");
  return {
    type,
    id: asText(value.id) || id,
    name: asText(value.name) || name,
    arguments: value.arguments,
    argumentsText: streamed,
    ...textsOf(value, "argumentsText", "argumentsError", "thoughtSignature"),
  };
}

export function readEnding(ending: Json): Partial<AssistantMessage> {
  const { usage, discardedUsage, paused } = ending;
  return {
    usage: readUsage(usage),
    ...(discardedUsage !== undefined && { discardedUsage: readUsage(discardedUsage) }),
    ...(paused === true && { paused }),
    ...textsOf(ending, "rawStopReason", "responseId", "responseModel"),
  };
}

/** Reads a source, image or file. Copies known fields only. */
export function readWhole(value: unknown): WholeContent {
  const part = asRecord(value);
  const { type, textIndex } = part;
  if (type === "source") {
    const names = ["url", "title", "mimeType", "name", "citedText", "supportedText"] as const;
    return { type, ...textsOf(part, ...names), ...(isIndex(textIndex) && { textIndex }) };
  }
  const media = { type, ...textsOf(part, "data", "url", "mimeType", "name") };
  if ((type !== "image" && type !== "file") || unsupported(media) !== undefined)
    throw corrupt("a part is neither a source nor an image nor a file");
  return media as WholeContent;
}

const statuses = ["started", "running", "completed", "failed"] as const;

/** Returns the status of a vendor's own tool, or undefined if it is unknown. */
export function readStatus(value: unknown): (typeof statuses)[number] | undefined {
  return statuses.find((status) => status === value);
}

/** Returns those of the fields that are strings. */
export function textsOf<Name extends string>(
  fields: Json,
  ...names: readonly Name[]
): { [name in Name]?: string } {
  const texts: { [name in Name]?: string } = {};
  for (const name of names) {
    const value = fields[name];
    if (typeof value === "string") texts[name] = value;
  }
  return texts;
}

function readUsage(value: unknown): Usage {
  const { cost, providerTools, ...counts } = asRecord(value);
  const prices = numbers(cost);
  return {
    ...numbers(counts),
    ...(isRecord(providerTools) && { providerTools: numbers(providerTools) }),
    ...(prices.total !== undefined && { cost: prices as unknown as Cost }),
  };
}

function numbers(value: unknown): Record<string, number> {
  return Object.fromEntries(
    Object.entries(asRecord(value)).filter(
      (entry): entry is [string, number] => typeof entry[1] === "number",
    ),
  );
}

const codes: ReadonlySet<string> = new Set(errorCodes);

export function readError(
  value: unknown,
  words?: unknown,
  reason?: "error" | "aborted",
): ErrorInfo {
  const error = asRecord(value);
  const { code, message, retryable, status, retryAfterMs } = error;
  const unnamed: ErrorCode = reason === "aborted" ? "aborted" : "server_error";
  return {
    code: typeof code === "string" && codes.has(code) ? (code as ErrorCode) : unnamed,
    message: asText(message) || asText(words) || "The proxy reported an error.",
    retryable: retryable === true,
    ...(typeof status === "number" && { status }),
    ...(typeof retryAfterMs === "number" && { retryAfterMs }),
    ...textsOf(error, "requestId"),
  };
}

export function readName(value: unknown): { provider: string; model: string } {
  const { provider, model } = asRecord(value);
  return { provider: asText(provider), model: asText(model) };
}

export function text(event: Json, field: string): string {
  const value = event[field];
  if (typeof value !== "string") throw corrupt(`${String(event.type)} has no ${field}`);
  return value;
}

export function count(value: unknown): number {
  return typeof value === "number" ? value : 0;
}

export function isIndex(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0;
}
