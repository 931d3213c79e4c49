/** Walks through values, to record them or to compare them with recorded ones. */
import type { Message, ToolResultMessage } from "../llm/message.ts";

const object = Symbol("object");
const list = Symbol("list");
const end = Symbol("end");

/**
 * Walks through the values that encoders read of a message. Compares each value with `values`, from
 * index `at`, and appends those beyond its end. Returns the index of the next message, or -1 if a value
 * differs. Messages that would be encoded differently never compare equal.
 */
export function walkMessage(message: Message | undefined, values: unknown[], at: number): number {
  if (!message || !meets(message.role, values, at)) return -1;
  let next = at + 1;
  if (message.role === "assistant") {
    const { stopReason, errorMessage, api, provider, model } = message;
    const same =
      meets(stopReason, values, next++) &&
      meets(errorMessage, values, next++) &&
      meets(api, values, next++) &&
      meets(provider, values, next++);
    if (!same || !meets(model, values, next++)) return -1;
  } else {
    const { toolCallId, isError } = message as Partial<ToolResultMessage>; // undefined of a user
    if (!meets(toolCallId, values, next++) || !meets(isError, values, next++)) return -1;
  }
  return walkValue(message.content, values, next);
}

/** Walks through any value, including where each list and object begins and ends. */
export function walkValue(value: unknown, values: unknown[], at: number): number {
  if (typeof value !== "object" || value === null) return meets(value, values, at) ? at + 1 : -1;
  const isList = Array.isArray(value);
  if (!meets(isList ? list : object, values, at)) return -1;
  let next = at + 1;
  if (isList)
    for (let index = 0; index < value.length && next >= 0; index++)
      next = walkValue(value[index], values, next);
  else
    for (const key in value) {
      if (!meets(key, values, next++)) return -1;
      next = walkValue((value as Record<string, unknown>)[key], values, next);
      if (next < 0) return -1;
    }
  return next >= 0 && meets(end, values, next) ? next + 1 : -1;
}

function meets(value: unknown, values: unknown[], at: number): boolean {
  return at < values.length ? values[at] === value : values.push(value) > 0;
}
