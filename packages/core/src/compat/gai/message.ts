/** gai's messages (seed 004): the system prompt is the first one, all results of an answer are in one user message. */
import type { AgentMessage } from "../../agent/index.ts";
import {
  messageText,
  type AssistantContent,
  type AssistantMessage,
  type Message as CoreMessage,
} from "../../llm/message.ts";
import type { Usage } from "../../llm/usage.ts";
import { toToolCall, withoutFailures } from "../transcript.ts";

export type Content =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "toolUse"; readonly id: string; readonly name: string; readonly argumentsJson: string }
  | { readonly type: "toolResult"; readonly toolUseId: string; readonly content: string; readonly isError: boolean };

export interface Message {
  readonly role: "system" | "user" | "assistant";
  readonly content: readonly Content[];
}

/** A tool call of an answer; the arguments as the model wrote them. */
export type Call = Omit<Extract<Content, { type: "toolUse" }>, "type">;

export interface CompletionResponse {
  readonly content: readonly Content[];
  readonly model: string;
  readonly stopReason: string;
  readonly usage: Usage;
}

export const system = (text: string): Message => ({ role: "system", content: [{ type: "text", text }] });
export const userText = (text: string): Message => ({ role: "user", content: [{ type: "text", text }] });
export const toolResult = (toolUseId: string, content: string): Content => result(toolUseId, content, false);
export const toolResultError = (toolUseId: string, content: string): Content => result(toolUseId, content, true);

export const textContent = (response: Pick<Message, "content">): string => messageText(response);
export const toolCalls = (response: Pick<Message, "content">): Call[] =>
  response.content.filter((part) => part.type === "toolUse");
export const hasToolCalls = (response: Pick<Message, "content">): boolean => toolCalls(response).length > 0;
export const appendResponse = (messages: readonly Message[], { content }: CompletionResponse): Message[] => [
  ...messages,
  { role: "assistant", content },
];

/** Messages that were given, as the loop keeps them; `details` says that a result is not the loop's own word. */
export function toTranscript({ role, content }: Message, timestamp: number): CoreMessage[] {
  if (role === "assistant") {
    const parts = content.flatMap((part): AssistantContent[] => {
      if (part.type === "toolUse") return [toToolCall(part.id, part.name, part.argumentsJson)];
      return part.type === "text" ? [{ ...part }] : [];
    });
    const origin = { api: "", provider: "", model: "", usage: {}, stopReason: "stop", timestamp } as const;
    return [{ role, content: parts, ...origin }];
  }
  return content.flatMap((part): CoreMessage[] => {
    if (part.type === "text") return role === "user" ? [{ role, content: part.text, timestamp }] : [];
    if (part.type === "toolUse") return [];
    const { toolUseId: toolCallId, content: text, isError } = part;
    const rest = { content: [{ type: "text", text } as const], details: part, isError, timestamp };
    return [{ role: "toolResult", toolCallId, toolName: "", ...rest }];
  });
}

/** What the loop added, as gai keeps it. */
export function fromTranscript(messages: readonly AgentMessage[]): Message[] {
  const list: { role: Message["role"]; content: Content[] }[] = [];
  for (const message of withoutFailures(messages)) {
    if (message.role === "toolResult") {
      if (list.at(-1)?.role !== "user") list.push({ role: "user", content: [] });
      list.at(-1)?.content.push(result(message.toolCallId, messageText(message), message.isError));
    } else if (message.role === "assistant") {
      list.push({ role: "assistant", content: [...toResponse(message).content] });
    }
  }
  return list;
}

export function toResponse({ content, stopReason, usage, ...message }: AssistantMessage): CompletionResponse {
  const parts = content.flatMap((part): Content[] => {
    if (part.type === "text") return [{ type: "text", text: part.text }];
    if (part.type !== "toolCall") return [];
    const { id, name, arguments: args, argumentsText } = part;
    return [{ type: "toolUse", id, name, argumentsJson: argumentsText || JSON.stringify(args) }];
  });
  return { content: parts, model: message.responseModel ?? message.model, stopReason, usage };
}

function result(toolUseId: string, content: string, isError: boolean): Content {
  return { type: "toolResult", toolUseId, content, isError };
}
