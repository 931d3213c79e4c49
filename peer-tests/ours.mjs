// Our own stream functions, from source, over the real fetch.
import { streamAnthropicMessages } from "@bowline/core/anthropic-messages";
import { streamOpenaiChat } from "@bowline/core/openai-chat";
import { emptyAnswer } from "./answer.mjs";

const wires = {
  "openai-chat": { stream: streamOpenaiChat, baseUrl: (url) => url },
  "anthropic-messages": { stream: streamAnthropicMessages, baseUrl: (url) => `${url}/v1` },
};

export async function readOurs(protocol, url) {
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
  const context = { messages: [{ role: "user", content: "Say it again.", timestamp: 0 }] };
  const message = await wire.stream(model, context, { apiKey: "dummy", maxRetries: 0 }).result();
  const answer = emptyAnswer();
  for (const part of message.content) {
    if (part.type === "text") answer.text += part.text;
    else if (part.type === "thinking") answer.thinking += part.thinking;
    else if (part.type === "toolCall") answer.calls.push({ name: part.name, arguments: part.arguments });
    answer.blocks.push(toBlock(part));
  }
  answer.stop = message.stopReason;
  const { cost: _, totalTokens: __, reasoning: ___, ...usage } = message.usage;
  if (Object.keys(usage).length > 0) answer.usage = usage;
  if (message.error !== undefined) answer.failed = `${message.error.code}: ${message.error.message}`;
  return answer;
}

/** A part as the block it came from, as far as it is there to be sent back. */
function toBlock(part) {
  switch (part.type) {
    case "text": {
      const { citations } = part.textSignature === undefined ? {} : JSON.parse(part.textSignature);
      return { type: "text", text: part.text, ...(citations !== undefined && { citations }) };
    }
    case "thinking":
      return part.redacted === true
        ? { type: "redacted_thinking", data: part.thinkingSignature }
        : { type: "thinking", thinking: part.thinking, signature: part.thinkingSignature };
    case "toolCall": {
      const { caller } = part.thoughtSignature === undefined ? {} : JSON.parse(part.thoughtSignature);
      return {
        type: "tool_use",
        id: part.id,
        name: part.name,
        input: part.arguments,
        ...(caller !== undefined && { caller }),
      };
    }
    case "opaque":
      return part.raw;
  }
}
