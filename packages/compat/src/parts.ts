/** Messages made of parts, as codelet and gai have them. */
import {
  messageText,
  type AssistantContent,
  type AssistantMessage,
  type ImageContent,
  type Message as CoreMessage,
  type ToolResultMessage,
  type UserContent,
  type UserMessage,
} from "@bowline/core";
import { toToolCall } from "./transcript.ts";

/** What a model says; the arguments of a call are as it wrote them. */
export type Said =
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type: "toolUse";
      readonly id: string;
      readonly name: string;
      readonly argumentsJson: string;
    };

export interface ResultPart {
  readonly type: "toolResult";
  readonly toolUseId: string;
  readonly content: string;
  /** The images that the tool gave, base64 with a `mimeType`. Absent when there are none. */
  readonly images?: readonly ImageContent[];
  readonly isError: boolean;
}

/** Images stand in messages of the user. */
export type Content = Said | ResultPart | ImageContent;

export interface Message {
  readonly role: "system" | "user" | "assistant";
  readonly content: readonly Content[];
}

/**
 * A message for the loop, which keeps no prompt among them; `details` says that a result is not the
 * loop's own word.
 */
export function toTranscript({ role, content }: Message, timestamp: number): CoreMessage[] {
  if (role === "assistant") {
    const origin = {
      api: "",
      provider: "",
      model: "",
      usage: {},
      stopReason: "stop",
      timestamp,
    } as const;
    return [{ role, content: toContent(content), ...origin }];
  }
  // A text about an image stays beside it.
  if (role === "user" && content.some(isImage) && content.every(isUserContent))
    return [{ role, content: [...content], timestamp }];
  return content.flatMap((part): CoreMessage[] => {
    if (part.type === "text")
      return role === "user" ? [{ role, content: part.text, timestamp }] : [];
    if (part.type === "image") return role === "user" ? [{ role, content: [part], timestamp }] : [];
    if (part.type === "toolUse") return [];
    const { toolUseId: toolCallId, content: text, images = [], isError } = part;
    const result = [{ type: "text", text } as const, ...images];
    return [
      {
        role: "toolResult",
        toolCallId,
        toolName: "",
        content: result,
        details: part,
        isError,
        timestamp,
      },
    ];
  });
}

export function toContent(parts: readonly Content[]): AssistantContent[] {
  return parts.flatMap((part): AssistantContent[] => {
    if (part.type === "toolUse") return [toToolCall(part.id, part.name, part.argumentsJson)];
    return part.type === "text" ? [{ type: "text", text: part.text }] : [];
  });
}

/** What a model said; its thinking is left out. */
export function answerParts({ content }: AssistantMessage): Said[] {
  return content.flatMap((part): Said[] => {
    if (part.type === "text") return [{ type: "text", text: part.text }];
    if (part.type !== "toolCall") return [];
    const { id, name, arguments: args, argumentsText } = part;
    return [{ type: "toolUse", id, name, argumentsJson: argumentsText || JSON.stringify(args) }];
  });
}

/** What a user said: a text, or parts when images came with it. */
export function textOrParts(message: UserMessage): string | UserContent[] {
  const { content } = message;
  if (typeof content === "string" || !content.some(isImage)) return messageText(message);
  return content.map((part) => (isImage(part) ? part : { type: part.type, text: part.text }));
}

export function resultPart(message: ToolResultMessage): ResultPart {
  const { toolCallId: toolUseId, isError } = message;
  const content = messageText(message);
  const images = imagesOf(message);
  return { type: "toolResult", toolUseId, content, ...(images && { images }), isError };
}

/** The images of a result; undefined when there are none. */
export function imagesOf({ content }: ToolResultMessage): ImageContent[] | undefined {
  const images = content.filter(isImage);
  return images.length > 0 ? images : undefined;
}

function isImage(part: { readonly type: string }): part is ImageContent {
  return part.type === "image";
}

function isUserContent(part: Content): part is UserContent {
  return part.type === "text" || part.type === "image";
}
