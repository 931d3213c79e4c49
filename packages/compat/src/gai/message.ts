/**
 * gai's messages. The system prompt is the first message, and all results of one answer are in one
 * user message.
 */
import type { AgentMessage } from "@bowline/core/agent";
import { messageText, type AssistantMessage, type Usage, type UserMessage } from "@bowline/core";
import { answerParts, resultPart, textOrParts, type Content, type Message } from "../parts.ts";
import { withoutFailures } from "../transcript.ts";

export type { Content, Message } from "../parts.ts";

/** A tool call of an answer, with the arguments as the model wrote them. */
export type Call = Omit<Extract<Content, { type: "toolUse" }>, "type">;

export interface CompletionResponse {
  readonly content: readonly Content[];
  readonly model: string;
  readonly stopReason: string;
  readonly usage: Usage;
}

type WithContent = Pick<Message, "content">;

export const system = (text: string): Message => ({
  role: "system",
  content: [{ type: "text", text }],
});
export const userText = (text: string): Message => ({
  role: "user",
  content: [{ type: "text", text }],
});
export const toolResult = (toolUseId: string, content: string): Content =>
  result(toolUseId, content, false);
export const toolResultError = (toolUseId: string, content: string): Content =>
  result(toolUseId, content, true);

export const textContent = (response: WithContent): string => messageText(response);
export const toolCalls = ({ content }: WithContent): Call[] =>
  content.filter((part) => part.type === "toolUse");
export const hasToolCalls = (response: WithContent): boolean => toolCalls(response).length > 0;
export const appendResponse = (
  messages: readonly Message[],
  { content }: WithContent,
): Message[] => [...messages, { role: "assistant", content }];

/** Converts the loop's messages to gai's. */
export function fromTranscript(messages: readonly AgentMessage[]): Message[] {
  const list: { role: Message["role"]; content: Content[] }[] = [];
  for (const message of withoutFailures(messages)) {
    if (message.role === "user") list.push({ role: "user", content: userParts(message) });
    if (message.role === "assistant")
      list.push({ role: "assistant", content: answerParts(message) });
    if (message.role !== "toolResult") continue;
    if (list.at(-1)?.role !== "user") list.push({ role: "user", content: [] });
    list.at(-1)?.content.push(resultPart(message));
  }
  return list;
}

export function toResponse(answer: AssistantMessage): CompletionResponse {
  const { model, responseModel = model, stopReason, usage } = answer;
  return { content: answerParts(answer), model: responseModel, stopReason, usage };
}

function userParts(message: UserMessage): Content[] {
  const said = textOrParts(message);
  return typeof said === "string" ? [{ type: "text", text: said }] : said;
}

function result(toolUseId: string, content: string, isError: boolean): Content {
  return { type: "toolResult", toolUseId, content, isError };
}
