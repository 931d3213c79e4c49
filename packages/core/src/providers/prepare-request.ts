/** Builds the request of a model call, with hooks and cached messages applied. */
import { callHook } from "../errors.ts";
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
  const { tools } = request.body;
  const { extraBody } = options;
  const allTools = Array.isArray(tools) && Array.isArray(extraBody?.tools);
  const body = {
    ...request.body,
    ...extraBody,
    ...(allTools && { tools: [...(tools as unknown[]), ...(extraBody.tools as unknown[])] }),
  };
  const replaced = onPayload && (await callHook("onPayload", () => onPayload(body, model)));
  return { ...request, body: settled ? toJson(body, settled) : wire.stringify(replaced ?? body) };
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
