/**
 * codelet's messages: two roles, parts, and each tool result in a user message of its
 * own.
 */
import type { AgentMessage } from "@bowline/core/agent";
import type { AssistantMessage, ImageContent, Message as CoreMessage } from "@bowline/core";
import * as parts from "../parts.ts";
import { toToolCall, withoutFailures } from "../transcript.ts";

export type MessageRole = "user" | "assistant";

/** What a model says. `input` is a parsed value; a text that was no JSON stays text. */
export type ContentBlock =
  | { type: "text"; text: string }
  | { type: "toolUse"; id: string; name: string; input: unknown };

/** Images are of a user; only where there are some. */
export type ContentPart = ContentBlock | parts.ResultPart | ImageContent;

export type MessageContent = string | ContentPart[];

export interface Message {
  role: MessageRole;
  content: MessageContent;
  /**
   * The answer as its model gave it, when that is more than `content` says: thinking, signatures.
   * The vendor wants it back. Without it a model that thinks goes on without thinking.
   */
  original?: AssistantMessage;
}

export type StopReason = "endTurn" | "toolUse" | "maxTokens";

export interface CompletionResponse {
  content: ContentBlock[];
  stopReason: StopReason;
  /** See {@link Message.original}. */
  original?: AssistantMessage;
}

export const Message = {
  user: (text: string): Message => ({ role: "user", content: text }),
  fromResponse: ({ content, original }: Omit<CompletionResponse, "stopReason">): Message => ({
    role: "assistant",
    content: [...content],
    ...(original && { original }),
  }),
};

/** Whether any part is a tool call. */
export function hasToolCall(content: MessageContent): boolean {
  return typeof content !== "string" && content.some(({ type }) => type === "toolUse");
}

/** A message as the loop keeps it; each result becomes a message. */
export function toTranscript(message: Message, timestamp: number): CoreMessage[] {
  const original = originalOf(message);
  if (original) return [original];
  const { role, content } = message;
  const list: ContentPart[] =
    typeof content === "string" ? [{ type: "text", text: content }] : content;
  return parts.toTranscript({ role, content: list.map(toPart) }, timestamp);
}

/** The transcript as codelet shows it. */
export function fromTranscript(messages: readonly AgentMessage[]): Message[] {
  return withoutFailures(messages).map((message): Message => {
    if (message.role === "user") return { role: "user", content: parts.textOrParts(message) };
    if (message.role === "assistant") return Message.fromResponse(toContents(message));
    return { role: "user", content: [parts.resultPart(message)] };
  });
}

export function toPart(part: ContentPart): parts.Content {
  if (part.type !== "toolUse") return part;
  const { input, ...call } = part;
  return {
    ...call,
    argumentsJson: typeof input === "string" ? input : JSON.stringify(input ?? {}),
  };
}

/** An answer's blocks, and the answer itself when they leave something out. */
export function toContents(answer: AssistantMessage): Omit<CompletionResponse, "stopReason"> {
  const isPlain = answer.content.every(
    (part) =>
      (part.type === "text" && part.textSignature === undefined) ||
      (part.type === "toolCall" && part.thoughtSignature === undefined),
  );
  return { content: toBlocks(answer), ...(!isPlain && { original: structuredClone(answer) }) };
}

/** The original of an answer, unless the answer was edited. */
export function originalOf({
  content,
  original,
}: Pick<Message, "content" | "original">): AssistantMessage | undefined {
  if (!original) return undefined;
  return JSON.stringify(toBlocks(original)) === JSON.stringify(content) ? original : undefined;
}

function toBlocks(answer: AssistantMessage): ContentBlock[] {
  return parts.answerParts(answer).map((part): ContentBlock => {
    if (part.type === "text") return part;
    const { argumentsJson, ...call } = part;
    const { arguments: args, argumentsError } = toToolCall(call.id, call.name, argumentsJson);
    return { ...call, input: argumentsError === undefined ? args : argumentsJson };
  });
}
