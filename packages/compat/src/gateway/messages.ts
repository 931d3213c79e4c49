/** Converts the gateway's messages to the transcript's, and back. */
import {
  type AssistantContent,
  type AssistantMessage,
  type Message as TranscriptMessage,
  type ToolResultMessage,
  type Usage,
  type UserContent,
  messageText,
} from "@bowline/core";
import { mediaOf, textOrParts } from "../parts.ts";
import type { ChatEvent, ContentBlock, Message } from "./types.ts";

const origin = {
  api: "compat",
  provider: "compat",
  model: "compat",
  usage: {},
  stopReason: "stop",
} as const;

export function toTranscript(messages: readonly Message[], timestamp: number): TranscriptMessage[] {
  const names = new Map<string, string>();
  return messages.flatMap(({ role, content }): TranscriptMessage[] => {
    const blocks: readonly ContentBlock[] =
      typeof content === "string" ? [{ type: "text", text: content }] : content;
    if (role === "assistant") {
      for (const block of blocks) if (block.type === "tool_use") names.set(block.id, block.name);
      return [{ role, content: blocks.flatMap(toAssistantContent), ...origin, timestamp }];
    }
    const results = blocks.flatMap((block): ToolResultMessage[] => {
      if (block.type !== "tool_result") return [];
      const {
        tool_use_id: toolCallId,
        content: text,
        images = [],
        files = [],
        is_error: isError = false,
      } = block;
      const toolName = names.get(toolCallId) ?? "unknown";
      const parts = [{ type: "text", text } as const, ...images, ...files];
      return [{ role: "toolResult", toolCallId, toolName, content: parts, isError, timestamp }];
    });
    const said = blocks.flatMap((block): UserContent[] =>
      block.type === "text" || block.type === "image" || block.type === "file" ? [block] : [],
    );
    return [...results, ...(said.length > 0 ? [{ role, content: said, timestamp } as const] : [])];
  });
}

function toAssistantContent(block: ContentBlock): AssistantContent[] {
  if (block.type === "text") return [block];
  if (block.type !== "tool_use") return [];
  const { id, name, input } = block;
  return [{ type: "toolCall", id, name, arguments: input }];
}

export function fromTranscript(messages: readonly TranscriptMessage[]): Message[] {
  return messages.map((message): Message => {
    switch (message.role) {
      case "user":
        return { role: "user", content: textOrParts(message) };
      case "assistant":
        return { role: "assistant", content: fromAssistant(message) };
      case "toolResult":
        return { role: "user", content: [toResultBlock(message)] };
    }
  });
}

export function fromAssistant({ content }: AssistantMessage): ContentBlock[] {
  return content.flatMap((part): ContentBlock[] => {
    if (part.type === "text") return [{ type: "text", text: part.text }];
    if (part.type !== "toolCall") return [];
    return [{ type: "tool_use", id: part.id, name: part.name, input: part.arguments }];
  });
}

export function toResultBlock(message: ToolResultMessage): ContentBlock {
  const { toolCallId, isError } = message;
  return {
    type: "tool_result",
    tool_use_id: toolCallId,
    content: messageText(message),
    ...mediaOf(message),
    ...(isError && { is_error: true }),
  };
}

/** Counts the whole prompt as input, including tokens read from or written to a cache. */
export function toUsage({
  usage: { input = 0, output = 0, cacheRead = 0, cacheWrite = 0 },
}: {
  readonly usage: Usage;
}): Extract<ChatEvent, { type: "final" }>["usage"] {
  return { inputTokens: input + cacheRead + cacheWrite, outputTokens: output };
}
