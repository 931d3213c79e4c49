/** codelet's messages: two roles, parts, and one user message per tool result. */
import type { AgentMessage } from "@bowline/core/agent";
import type {
  AssistantMessage,
  FileContent,
  ImageContent,
  Message as CoreMessage,
} from "@bowline/core";
import * as parts from "../parts.ts";
import { toToolCall, withoutFailures } from "../transcript.ts";

export type MessageRole = "user" | "assistant";

/** A part of an answer. `input` is a parsed value, or text if it was not valid JSON. */
export type ContentBlock =
  | { type: "text"; text: string }
  | { type: "toolUse"; id: string; name: string; input: unknown };

/** A part of any message. Images and files occur in user messages only. */
export type ContentPart = ContentBlock | parts.ResultPart | ImageContent | FileContent;

export type MessageContent = string | ContentPart[];

export interface Message {
  role: MessageRole;
  content: MessageContent;
  /**
   * The complete answer, if `content` omits parts of it such as thinking and signatures. The vendor
   * expects it back; without it, a thinking model stops thinking.
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

/** Returns true if any part is a tool call. */
export function hasToolCall(content: MessageContent): boolean {
  return typeof content !== "string" && content.some(({ type }) => type === "toolUse");
}

/** Converts a message for the loop. Each result becomes a message. */
export function toTranscript(message: Message, timestamp: number): CoreMessage[] {
  const original = originalOf(message);
  if (original) return [original];
  const { role, content } = message;
  const list: ContentPart[] =
    typeof content === "string" ? [{ type: "text", text: content }] : content;
  return parts.toTranscript({ role, content: list.map(toPart) }, timestamp);
}

/** Converts the transcript to codelet's messages. */
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

/** Returns an answer's blocks, and the answer itself if they omit something. */
export function toContents(answer: AssistantMessage): Omit<CompletionResponse, "stopReason"> {
  const isPlain = answer.content.every(
    (part) =>
      (part.type === "text" && part.textSignature === undefined) ||
      (part.type === "toolCall" && part.thoughtSignature === undefined),
  );
  return { content: toBlocks(answer), ...(!isPlain && { original: structuredClone(answer) }) };
}

/** Returns the original answer, unless `content` was edited. */
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
