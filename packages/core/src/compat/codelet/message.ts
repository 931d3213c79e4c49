/** codelet's messages (seed 001): two roles, parts, and each tool result in a user message of its own. */
import type { AgentMessage } from "../../agent/index.ts";
import { messageText, type AssistantContent, type Message as CoreMessage } from "../../llm/message.ts";
import { toToolCall, withoutFailures } from "../transcript.ts";

export type MessageRole = "user" | "assistant";

/** What a model says. `input` is a parsed value; a text that was no JSON stays text. */
export type ContentBlock =
  | { type: "text"; text: string }
  | { type: "toolUse"; id: string; name: string; input: unknown };

export type ContentPart = ContentBlock | { type: "toolResult"; toolUseId: string; content: string; isError: boolean };

export type MessageContent = string | ContentPart[];

export interface Message {
  role: MessageRole;
  content: MessageContent;
}

export type StopReason = "endTurn" | "toolUse" | "maxTokens";

export interface CompletionResponse {
  content: ContentBlock[];
  stopReason: StopReason;
}

export const Message = {
  user: (text: string): Message => ({ role: "user", content: text }),
  fromResponse: ({ content }: CompletionResponse): Message => ({ role: "assistant", content: [...content] }),
};

/** Whether any part is a tool call. */
export function hasToolCall(content: MessageContent): boolean {
  return typeof content !== "string" && content.some(({ type }) => type === "toolUse");
}

/** A message as the loop keeps it; each result becomes a message. */
export function toTranscript({ role, content }: Message, timestamp: number): CoreMessage[] {
  const parts: ContentPart[] = typeof content === "string" ? [{ type: "text", text: content }] : content;
  if (role === "assistant") {
    const origin = { api: "", provider: "", model: "", usage: {}, stopReason: "stop", timestamp } as const;
    return [{ role, content: parts.flatMap(toAssistantContent), ...origin }];
  }
  return parts.flatMap((part): CoreMessage[] => {
    if (part.type === "text") return [{ role, content: part.text, timestamp }];
    if (part.type === "toolUse") return [];
    const { toolUseId: toolCallId, content: text, isError } = part;
    const result = [{ type: "text", text } as const];
    return [{ role: "toolResult", toolCallId, toolName: "", content: result, isError, timestamp }];
  });
}

export function toAssistantContent(part: ContentPart): AssistantContent[] {
  if (part.type === "text") return [{ type: "text", text: part.text }];
  if (part.type === "toolResult") return [];
  const { id, name, input } = part;
  return [toToolCall(id, name, typeof input === "string" ? input : JSON.stringify(input ?? {}))];
}

/** The transcript as codelet shows it. */
export function fromTranscript(messages: readonly AgentMessage[]): Message[] {
  return withoutFailures(messages).map((message): Message => {
    if (message.role === "assistant") return { role: "assistant", content: toBlocks(message.content) };
    if (message.role === "user") return { role: "user", content: messageText(message) };
    const { toolCallId: toolUseId, isError } = message;
    return { role: "user", content: [{ type: "toolResult", toolUseId, content: messageText(message), isError }] };
  });
}

export function toBlocks(content: readonly AssistantContent[]): ContentBlock[] {
  return content.flatMap((part): ContentBlock[] => {
    if (part.type === "text") return [{ type: "text", text: part.text }];
    if (part.type !== "toolCall") return [];
    const { id, name, arguments: args, argumentsError, argumentsText } = part;
    return [{ type: "toolUse", id, name, input: argumentsError === undefined ? args : argumentsText }];
  });
}
