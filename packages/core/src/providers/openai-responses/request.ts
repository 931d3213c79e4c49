/** (model, context, options) as a Responses request that the server keeps nothing of: the transcript is the whole state. */
import type { Context, Tool } from "../../llm/message.ts";
import { supportsOutput, type Compat, type Model, type StreamOptions, type ToolChoice } from "../../llm/model.ts";
import { toJsonSchema } from "../../schema.ts";
import type { WireRequest } from "../protocol.ts";
import { adaptSchema } from "../adapt-schema.ts";
import { assertSendable, joinUrl, wellFormed } from "../replay.ts";
import { isStrictSchema } from "../strict-schema.ts";
import { allowedChoice, toWireName, toWireNames } from "../tool-names.ts";
import { encodeInput, nameLimits } from "./input.ts";

type Json = Record<string, unknown>;

/** The longest key that the server takes. */
const CACHE_KEY_LENGTH = 64;

export function encode(model: Model, context: Context, options: StreamOptions): WireRequest {
  const input = encodeInput(context.messages, model, options.extraBody?.store === true);
  assertSendable(input); // what another server's items leave may be nothing
  const instructions = wellFormed(context.systemPrompt ?? "");
  const apiKey = options.apiKey?.trim() ?? "";
  const cacheKey = options.cacheRetention === "none" ? "" : wellFormed(options.sessionId ?? "");
  return {
    url: joinUrl(model.baseUrl, "responses"),
    headers: {
      "content-type": "application/json",
      accept: model.compat?.noStreaming === true ? "application/json" : "text/event-stream",
      "accept-encoding": "identity", // compression buffers a stream (Q027)
      ...(apiKey !== "" && { authorization: `Bearer ${apiKey}` }),
      ...model.headers,
      ...options.headers,
    },
    body: {
      model: model.id,
      ...(instructions.trim() !== "" && { instructions }),
      input,
      ...(model.compat?.noStreaming !== true && { stream: true }),
      store: false,
      ...(options.maxTokens !== undefined && { max_output_tokens: options.maxTokens }),
      ...encodeReasoning(model, options),
      ...encodeOutput(model, options, (context.tools ?? []).length > 0),
      ...encodeTools(context.tools ?? [], options.toolChoice, model.compat),
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

/** An answer held to a schema: strictly where the schema qualifies, which is said in any case (Q117). */
function encodeOutput(model: Model, { output }: StreamOptions, withTools: boolean): Json {
  if (output === undefined || !supportsOutput(model, withTools)) return {};
  const schema = adaptSchema(output.schema, model.compat?.schemaKeywords);
  const name = toWireName(output.name ?? "answer", nameLimits.nameLength);
  return { text: { format: { type: "json_schema", name, schema, strict: output.strict ?? isStrictSchema(schema) } } };
}

/** Nothing of tools without tools (Q109, Q110); a schema is taken as strict unless that is denied (Q117). */
function encodeTools(tools: readonly Tool[], choice: ToolChoice | undefined, compat: Compat | undefined): Json {
  if (tools.length === 0) return {};
  const names = toWireNames(tools, nameLimits.nameLength);
  return {
    tools: tools.map(({ name, description, parameters }, index) => ({
      type: "function",
      name: names[index],
      description: wellFormed(description),
      parameters: adaptSchema(toJsonSchema(parameters, `tool "${name}"`), compat?.schemaKeywords),
      strict: false,
    })),
    ...(choice !== undefined && { tool_choice: encodeToolChoice(allowedChoice(choice, compat)) }),
  };
}

function encodeToolChoice(choice: ToolChoice): unknown {
  if (typeof choice === "string") return choice;
  return { type: "function", name: toWireName(choice.name, nameLimits.nameLength) };
}
