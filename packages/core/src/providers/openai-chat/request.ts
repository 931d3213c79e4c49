/** (model, context, options) as a Chat Completions request. Sends only what was asked for: unknown fields are refused by many servers (Q108). */
import type { Context, Tool, UserContent } from "../../llm/message.ts";
import type { Model, StreamOptions, ToolChoice } from "../../llm/model.ts";
import { asText, defined } from "../../json-value.ts";
import { toJsonSchema } from "../../schema.ts";
import type { PostRequest } from "../../transport/request.ts";
import { toWireName, toWireNames, type NameLimits } from "../tool-names.ts";
import { argumentsJson, joinUrl, toReplay, wellFormed, type ReplayAssistant, type ReplayMessage } from "../replay.ts";

type WireMessage = Record<string, unknown>;

export const nameLimits: NameLimits = { idLength: 40, nameLength: 64 };

/** Where servers put reasoning; the first that holds text wins, and it goes back under the same name (Q082, Q083). */
export const reasoningFields: readonly string[] = ["reasoning_content", "reasoning", "reasoning_text", "thinking"];

export function encode(model: Model, context: Context, options: StreamOptions): PostRequest {
  const { compat = {} } = model;
  const tools = context.tools ?? [];
  const apiKey = options.apiKey?.trim() ?? "";
  const body: Record<string, unknown> = defined({
    model: model.id,
    messages: encodeMessages(model, context),
    stream: true,
    stream_options: compat.streamUsage === false ? undefined : { include_usage: true },
    [compat.maxTokensField ?? "max_tokens"]: options.maxTokens,
    temperature: compat.noTemperature === true ? undefined : options.temperature,
    ...(tools.length > 0 && { tools: encodeTools(tools), tool_choice: encodeToolChoice(options.toolChoice) }),
    ...encodeThinking(model, options),
    metadata: options.metadata,
  });
  return {
    url: joinUrl(model.baseUrl, "chat/completions"),
    headers: {
      "content-type": "application/json",
      accept: "text/event-stream",
      "accept-encoding": "identity", // compression buffers a stream (Q027)
      ...(apiKey !== "" && { [compat.keyHeader ?? "authorization"]: compat.keyHeader ? apiKey : `Bearer ${apiKey}` }),
      ...model.headers,
      ...options.headers,
    },
    body,
  };
}

function encodeMessages(model: Model, context: Context): WireMessage[] {
  const wire: WireMessage[] = [];
  const system = wellFormed(context.systemPrompt ?? "");
  if (system.trim() !== "") wire.push({ role: model.compat?.systemRole ?? "system", content: system });
  let images: UserContent[] = [];
  const flushImages = (): void => {
    if (images.length > 0)
      wire.push({
        role: "user",
        content: encodeParts([{ type: "text", text: "Images of the tool results above:" }, ...images]),
      });
    images = [];
  };
  for (const message of toReplay(context.messages, model, nameLimits)) {
    // The tool role takes text only, and nothing may come between the results of one turn (Q123).
    if (message.role !== "toolResult") flushImages();
    else images.push(...message.content.filter((part) => part.type === "image"));
    wire.push(encodeMessage(message, model));
  }
  flushImages();
  return wire;
}

function encodeMessage(message: ReplayMessage, model: Model): WireMessage {
  switch (message.role) {
    case "user":
      return { role: "user", content: encodeParts(message.content) };
    case "assistant":
      return encodeAssistant(message, model);
    case "toolResult": {
      const text = message.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
      const hasImage = message.content.some((part) => part.type === "image");
      return {
        role: "tool",
        tool_call_id: message.toolCallId,
        content: text || (hasImage ? "(see the image below)" : "(no output)"),
      };
    }
  }
}

function encodeAssistant(message: ReplayAssistant, model: Model): WireMessage {
  const text = message.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
  const calls = message.content.filter((part) => part.type === "toolCall");
  const wire: WireMessage = { role: "assistant", content: text === "" ? null : text };
  if (model.compat?.replayReasoning === true) {
    for (const part of message.content) {
      if (part.type !== "thinking") continue;
      const field = reasoningFields.find((known) => known === part.field) ?? "reasoning_content";
      wire[field] = asText(wire[field]) + wellFormed(part.thinking);
    }
  }
  for (const part of message.content) if (part.type === "opaque") Object.assign(wire, part.raw); // reasoning_details (Q086)
  if (calls.length > 0) {
    wire.tool_calls = calls.map((call) => ({
      id: call.id,
      type: "function",
      function: { name: call.name, arguments: argumentsJson(call) },
      // Gemini refuses the next turn without it (Q089).
      ...(call.thoughtSignature && { extra_content: { google: { thought_signature: call.thoughtSignature } } }),
    }));
  }
  return wire;
}

/** A plain string whenever the parts are text only: several servers refuse arrays (Q122). */
function encodeParts(parts: readonly UserContent[]): unknown {
  if (parts.every((part) => part.type === "text")) return parts.map((part) => part.text).join("\n");
  return parts.map((part) =>
    part.type === "text"
      ? { type: "text", text: part.text }
      : { type: "image_url", image_url: { url: `data:${part.mimeType};base64,${part.data}` } },
  );
}

function encodeTools(tools: readonly Tool[]): WireMessage[] {
  const names = toWireNames(tools, nameLimits.nameLength);
  return tools.map(({ name, description, parameters }, index) => ({
    type: "function",
    function: {
      name: names[index],
      description: wellFormed(description),
      parameters: toJsonSchema(parameters, `tool "${name}"`),
    },
  }));
}

function encodeToolChoice(choice: ToolChoice | undefined): unknown {
  if (typeof choice !== "object") return choice;
  return { type: "function", function: { name: toWireName(choice.name, nameLimits.nameLength) } };
}

/** One option, a field per target (Q134). */
function encodeThinking(model: Model, options: StreamOptions): Record<string, unknown> {
  const effort = options.reasoning;
  if (effort === undefined || !model.reasoning) return {};
  switch (model.compat?.thinkingFormat ?? "reasoning_effort") {
    case "reasoning_effort":
      return { reasoning_effort: effort };
    case "reasoning":
      return { reasoning: { effort } };
    case "thinking":
      return { thinking: { type: "enabled" } };
    case "enable_thinking":
      return { enable_thinking: true };
    case "none":
      return {};
  }
}
