/** Builds the request of a model call, with hooks and cached messages applied. */
import { BowlineError, callHook } from "../errors.ts";
import { isRecord } from "../json-value.ts";
import type { Context } from "../llm/message.ts";
import type { Model, StreamOptions } from "../llm/model.ts";
import type { PostRequest } from "../transport/request.ts";
import type { Settled } from "./settled.ts";
import { toWireJson } from "./wire-json.ts";
import type { Wire } from "./wire.ts";

export async function prepareRequest(
  wire: Wire,
  model: Model,
  context: Context,
  options: StreamOptions,
): Promise<PostRequest> {
  const { onPayload } = options;
  const settled = onPayload ? undefined : wire.settled?.(model, context, options);
  const rest = settled ? { ...context, messages: context.messages.slice(settled.count) } : context;
  const request = wire.encode(model, rest, options, settled !== undefined);
  const { extraBody = {} } = options;
  const body = { ...request.body, ...extraBody };
  for (const name of Object.keys(extraBody))
    if (Object.hasOwn(request.body, name))
      body[name] = joined(name, request.body[name], extraBody[name]);
  const replaced = onPayload && (await callHook("onPayload", () => onPayload(body, model)));
  return { ...request, body: settled ? toJson(body, settled) : wire.stringify(replaced ?? body) };
}

/**
 * Joins a field of the request with that of `extraBody`, so that nothing is dropped by accident:
 * lists of tools and of what to include are appended, bags of settings are merged. Anything else is
 * replaced, as are values with a `type`, whose other fields depend on it.
 */
function joined(name: string, own: unknown, more: unknown): unknown {
  if (name === "tools" || name === "include") {
    if (more === undefined) return own;
    if (Array.isArray(more)) return [...(own as unknown[]), ...more];
    const why = `extraBody.${name} must be a list, since it is added to the agent's.`;
    throw new BowlineError("invalid_argument", why);
  }
  const isBag = (value: unknown): value is object => isRecord(value) && !("type" in value);
  return isBag(own) && isBag(more) ? { ...own, ...more } : more;
}

/** Returns the body as JSON, with the cached items first in their list. */
function toJson(body: Record<string, unknown>, { field, text }: Settled): string {
  let json = "";
  for (const key of Object.keys(body)) {
    const value: string | undefined = toWireJson(body[key]);
    if (value === undefined) continue;
    json += `${json ? "," : "{"}${toWireJson(key)}:`;
    json += key === field ? `[${text}${value.slice(1)}` : value;
  }
  return `${json}}`;
}
