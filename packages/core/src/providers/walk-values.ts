/** Goes through values one by one, to note them or to see that they are those that were noted. */
import type { Message } from "../llm/message.ts";

const object = Symbol("object");
const list = Symbol("list");
const end = Symbol("end");

/**
 * Goes through what encoders read of a message. What stands at `at` of `values`, and behind it,
 * must be the same; behind the last of them it is added. Gives where the next message stands, or
 * -1. Messages that would be encoded otherwise are never the same here.
 */
export function walkMessage(message: Message | undefined, values: unknown[], at: number): number {
  if (!message || !meets(message.role, values, at)) return -1;
  let next = at + 1;
  if (message.role === "assistant") {
    const { stopReason, api, provider, model } = message;
    const same =
      meets(stopReason, values, next++) &&
      meets(api, values, next++) &&
      meets(provider, values, next++);
    if (!same || !meets(model, values, next++)) return -1;
  } else if (message.role === "toolResult") {
    if (!meets(message.toolCallId, values, next++) || !meets(message.isError, values, next++))
      return -1;
  }
  return walkValue(message.content, values, next);
}

/** Any value: all of it, and where it begins and ends. */
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
