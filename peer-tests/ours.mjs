// Reads with our stream functions, from source, with the global fetch or a given one.
import { streamAnthropicMessages } from "@bowline/core/anthropic-messages";
import { streamGoogleGenerate } from "@bowline/core/google-generate";
import { streamOpenaiChat } from "@bowline/core/openai-chat";
import { streamOpenaiResponses } from "@bowline/core/openai-responses";
import { emptyAnswer } from "./answer.mjs";

const wires = {
  "openai-chat": { stream: streamOpenaiChat, baseUrl: (url) => url },
  "anthropic-messages": { stream: streamAnthropicMessages, baseUrl: (url) => `${url}/v1` },
  "openai-responses": { stream: streamOpenaiResponses, baseUrl: (url) => url },
  "google-generate": { stream: streamGoogleGenerate, baseUrl: (url) => `${url}/v1beta` },
};

export async function readOurs(protocol, url) {
  return toAnswer(await askOurs(protocol, url));
}

/** Returns the message. `options` are those of the stream function. */
export function askOurs(protocol, url, options = {}, tools = []) {
  const wire = wires[protocol];
  const model = {
    id: "recorded",
    name: "recorded",
    api: protocol,
    provider: "recorded",
    baseUrl: wire.baseUrl(url),
    reasoning: true,
    input: ["text"],
  };
  const context = { messages: [{ role: "user", content: "Say it again.", timestamp: 0 }], tools };
  return wire.stream(model, context, { apiKey: "dummy", maxRetries: 0, ...options }).result();
}

export function toAnswer(message) {
  const answer = emptyAnswer();
  for (const part of message.content) {
    if (part.type === "text") answer.text += part.text;
    else if (part.type === "thinking") answer.thinking += part.thinking;
    else if (part.type === "toolCall")
      answer.calls.push({ id: part.id, name: part.name, arguments: argumentsOf(part) });
    // Sources are derived from what is compared anyway.
    if (part.type === "image" || part.type === "file") joinMedia(answer.blocks, part.data);
    else if (part.type !== "source") answer.blocks.push(toBlock[message.api]?.(part));
  }
  answer.id = message.responseId;
  answer.model = message.responseModel ?? message.model;
  answer.stop = message.stopReason;
  const { cost: _, totalTokens: __, providerTools: ___, ...usage } = message.usage;
  if (Object.keys(usage).length > 0) answer.usage = usage;
  if (message.error !== undefined)
    answer.failed = `${message.error.code}: ${message.error.message}`;
  return answer;
}

/** Puts an image or sound back into the block that it was taken from. */
function joinMedia(blocks, data) {
  const block = blocks.at(-1);
  if (block?.type === "image_generation_call")
    blocks[blocks.length - 1] = { ...block, result: data };
  const name = block && ["inlineData", "inline_data"].find((key) => key in block);
  if (name !== undefined)
    blocks[blocks.length - 1] = { ...block, [name]: { ...block[name], data } };
}

function argumentsOf({ arguments: args, argumentsText, argumentsError }) {
  return argumentsError === undefined ? args : { unparsed: argumentsText };
}

/** Converts a part back to its block, with the fields that are stored for sending it back. */
const toBlock = {
  "anthropic-messages": toMessagesBlock,
  "openai-responses": toResponsesBlock,
  "google-generate": toGoogleBlock,
};

function toMessagesBlock(part) {
  switch (part.type) {
    case "text": {
      const { citations } = unpack(part.textSignature);
      return { type: "text", text: part.text, ...(citations !== undefined && { citations }) };
    }
    case "thinking":
      return part.redacted === true
        ? { type: "redacted_thinking", data: part.thinkingSignature }
        : { type: "thinking", thinking: part.thinking, signature: part.thinkingSignature };
    case "toolCall": {
      const { caller } = unpack(part.thoughtSignature);
      return {
        type: "tool_use",
        id: part.id,
        name: part.name,
        input: argumentsOf(part),
        ...(caller !== undefined && { caller }),
      };
    }
    case "opaque":
      return part.raw;
  }
}

function toResponsesBlock(part) {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text, ...unpack(part.textSignature) };
    case "thinking":
      return { type: "thinking", text: part.thinking, ...unpack(part.thinkingSignature) };
    case "toolCall":
      return {
        type: "call",
        call_id: part.id,
        name: part.name,
        arguments: part.argumentsText,
        ...unpack(part.thoughtSignature),
      };
    case "opaque":
      return part.raw;
  }
}

function toGoogleBlock(part) {
  switch (part.type) {
    case "text":
      return { text: part.text, signature: part.textSignature };
    case "thinking":
      return { thought: part.thinking, signature: part.thinkingSignature };
    case "toolCall": {
      const packed = part.thoughtSignature ?? "";
      const { hasId = false, signature } = packed.startsWith("{")
        ? unpack(packed)
        : { signature: packed || undefined };
      return { name: part.name, args: part.arguments, id: hasId ? part.id : undefined, signature };
    }
    case "opaque":
      return part.raw;
  }
}

function unpack(signature) {
  return signature === undefined ? {} : JSON.parse(signature);
}
