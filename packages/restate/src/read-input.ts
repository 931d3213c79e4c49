/** Checks what arrives at the handlers. Fails terminally, because a retry would not change it. */
import { TerminalError } from "@restatedev/restate-sdk";
import type { AbortInput, AnswerCall, RecoverInput, RunInput, WakeInput } from "./wire.ts";

const BAD_REQUEST = 400;

type Fields = Readonly<Record<string, (value: unknown) => boolean>>;

const isText = (value: unknown): boolean =>
  typeof value === "string" && value.length > 0 && value.length <= 512;
/** Keys of entries begin with it, and have at most 512 characters. */
const isRunId = (value: unknown): boolean => isText(value) && (value as string).length <= 256;
const isString = (value: unknown): boolean => typeof value === "string";
const optional =
  (check: (value: unknown) => boolean) =>
  (value: unknown): boolean =>
    value === undefined || check(value);
const isMessage = (value: unknown): boolean =>
  isObject(value) && typeof value.role === "string" && value.role !== "";

export const readRun = (value: unknown): RunInput =>
  read(value, {
    messageId: isText,
    message: isMessage,
    agent: optional(isText),
    runId: optional(isRunId),
    metadata: optional(isObject),
  }) as RunInput;

export const readWake = (value: unknown): WakeInput => read(value, { agent: optional(isText) });

export const readAbort = (value: unknown): AbortInput => read(value, { runId: optional(isText) });

export const readRecover = (value: unknown): RecoverInput =>
  read(value, { reason: isString }) as unknown as RecoverInput;

export function readAnswer(value: unknown): AnswerCall {
  const call = read(value, { approvalId: isText, answer: isObject }) as unknown as AnswerCall;
  read(call.answer, {
    decision: (decision) => decision === "allow" || decision === "deny",
    by: optional(isString),
    reason: optional(isString),
    remember: optional((remember) => remember === "session"),
    at: (at) => typeof at === "number" && Number.isFinite(at),
  });
  return call;
}

function read(value: unknown, fields: Fields): object {
  if (!isObject(value)) throw refuse("The input must be an object.");
  for (const name of Object.keys(value))
    if (!Object.hasOwn(fields, name)) throw refuse(`Unknown field "${name}".`);
  for (const [name, check] of Object.entries(fields))
    if (!check(value[name])) throw refuse(`The field "${name}" is missing or invalid.`);
  return value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function refuse(message: string): TerminalError {
  return new TerminalError(message, { errorCode: BAD_REQUEST });
}
