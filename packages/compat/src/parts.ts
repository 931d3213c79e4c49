/** Messages made of parts, as in codelet and gai. */
import {
  messageText,
  type AssistantContent,
  type AssistantMessage,
  type FileContent,
  type ImageContent,
  type Message as CoreMessage,
  type ToolResultMessage,
  type UserContent,
  type UserMessage,
} from "@bowline/core";
import { toToolCall } from "./transcript.ts";

/** A part of an answer. The arguments of a call are as the model wrote them. */
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
  /** The tool's images, Base64 with a `mimeType`. Absent if there are none. */
  readonly images?: readonly ImageContent[];
  /** The tool's files. Absent if there are none. */
  readonly files?: readonly FileContent[];
  readonly isError: boolean;
}

/** A part of any message. Images and files occur in user messages. */
export type Content = Said | ResultPart | ImageContent | FileContent;

export interface Message {
  readonly role: "system" | "user" | "assistant";
  readonly content: readonly Content[];
}

/**
 * Converts a message for the loop, which takes system prompts separately. `details` marks results
 * that must not be reworded.
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
  // Keep text and image in one message, since they belong together.
  if (role === "user" && content.some(isMedia) && content.every(isUserContent))
    return [{ role, content: [...content], timestamp }];
  return content.flatMap((part): CoreMessage[] => {
    if (part.type === "text")
      return role === "user" ? [{ role, content: part.text, timestamp }] : [];
    if (isMedia(part)) return role === "user" ? [{ role, content: [part], timestamp }] : [];
    if (part.type === "toolUse") return [];
    const { toolUseId: toolCallId, content: text, images = [], files = [], isError } = part;
    const result = [{ type: "text", text } as const, ...images, ...files];
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

/** Returns the parts of an answer without thinking. */
export function answerParts({ content }: AssistantMessage): Said[] {
  return content.flatMap((part): Said[] => {
    if (part.type === "text") return [{ type: "text", text: part.text }];
    if (part.type !== "toolCall") return [];
    const { id, name, arguments: args, argumentsText } = part;
    return [{ type: "toolUse", id, name, argumentsJson: argumentsText || JSON.stringify(args) }];
  });
}

/** Returns a user's text, or parts if there are images or files. */
export function textOrParts(message: UserMessage): string | UserContent[] {
  const { content } = message;
  if (typeof content === "string" || !content.some(isMedia)) return messageText(message);
  return content.map((part) => (isMedia(part) ? part : { type: part.type, text: part.text }));
}

export function resultPart(message: ToolResultMessage): ResultPart {
  const { toolCallId: toolUseId, isError } = message;
  const content = messageText(message);
  return { type: "toolResult", toolUseId, content, ...mediaOf(message), isError };
}

/** Returns the images and the files of a result, each only if there are any. */
export function mediaOf({
  content,
}: ToolResultMessage): Partial<Pick<ResultPart, "images" | "files">> {
  const images = content.filter((part) => part.type === "image");
  const files = content.filter((part) => part.type === "file");
  return { ...(images.length > 0 && { images }), ...(files.length > 0 && { files }) };
}

function isMedia<T extends { readonly type: string }>(
  part: T,
): part is Extract<T, ImageContent | FileContent> {
  return part.type === "image" || part.type === "file";
}

function isUserContent(part: Content): part is UserContent {
  return part.type === "text" || isMedia(part);
}
