/** (model, context, options) as a Responses request that the server keeps nothing of: the transcript is the whole state. */
import type { Context, Tool } from "../../llm/message.ts";
import type { Model, StreamOptions, ToolChoice } from "../../llm/model.ts";
import { toJsonSchema } from "../../schema.ts";
import type { PostRequest } from "../../transport/request.ts";
import { assertSendable, joinUrl, wellFormed } from "../replay.ts";
import { toWireName, toWireNames } from "../tool-names.ts";
import { encodeInput, nameLimits } from "./input.ts";

type Json = Record<string, unknown>;

/** The longest key that the server takes. */
const CACHE_KEY_LENGTH = 64;

export function encode(model: Model, context: Context, options: StreamOptions): PostRequest {
  const input = encodeInput(context.messages, model, options.extraBody?.store === true);
  assertSendable(input); // what another server's items leave may be nothing
  const instructions = wellFormed(context.systemPrompt ?? "");
  const apiKey = options.apiKey?.trim() ?? "";
  const cacheKey = options.cacheRetention === "none" ? "" : wellFormed(options.sessionId ?? "");
  return {
    url: joinUrl(model.baseUrl, "responses"),
    headers: {
      "content-type": "application/json",
      accept: "text/event-stream",
      "accept-encoding": "identity", // compression buffers a stream (Q027)
      ...(apiKey !== "" && { authorization: `Bearer ${apiKey}` }),
      ...model.headers,
      ...options.headers,
    },
    body: {
      model: model.id,
      ...(instructions.trim() !== "" && { instructions }),
      input,
      stream: true,
      store: false,
      ...(options.maxTokens !== undefined && { max_output_tokens: options.maxTokens }),
      ...encodeReasoning(model, options),
      ...encodeTools(context.tools ?? [], options.toolChoice),
      ...(options.metadata !== undefined && { metadata: options.metadata }),
      ...(cacheKey !== "" && { prompt_cache_key: cacheKey.slice(0, CACHE_KEY_LENGTH) }),
    },
  };
}

/** How hard to think, and the thoughts in the form in which they can be sent back, though nobody asked for any (Q195). */
function encodeReasoning(model: Model, { reasoning: effort, temperature }: StreamOptions): Json {
  const thinks = model.reasoning && effort !== undefined && model.compat?.thinkingFormat !== "none";
  const noTemperature = thinks || temperature === undefined || model.compat?.noTemperature === true; // Q113
  return {
    ...(thinks && { reasoning: { effort, summary: "auto" } }),
    ...(model.reasoning && { include: ["reasoning.encrypted_content"] }),
    ...(!noTemperature && { temperature }),
  };
}

/** Nothing of tools without tools (Q109, Q110); a schema is taken as strict unless that is denied (Q117). */
function encodeTools(tools: readonly Tool[], choice: ToolChoice | undefined): Json {
  if (tools.length === 0) return {};
  const names = toWireNames(tools, nameLimits.nameLength);
  return {
    tools: tools.map(({ name, description, parameters }, index) => ({
      type: "function",
      name: names[index],
      description: wellFormed(description),
      parameters: toJsonSchema(parameters, `tool "${name}"`),
      strict: false,
    })),
    ...(choice !== undefined && { tool_choice: encodeToolChoice(choice) }),
  };
}

function encodeToolChoice(choice: ToolChoice): unknown {
  if (typeof choice === "string") return choice;
  return { type: "function", name: toWireName(choice.name, nameLimits.nameLength) };
}
