/**
 * Messages of a transcript as clients receive them: the types of `@bowline/core` without fields
 * that only a model server needs (signatures, a call's arguments as text). The data of images and
 * files is replaced by their size. A session may also contain an application's own messages, with other roles.
 */
import type {
  AssistantMessage,
  OpaqueContent,
  SourceContent,
  TextContent,
  ThinkingContent,
  ToolCall,
  ToolResultMessage,
  UserMessage,
} from "@bowline/core";

export interface HistoryImage {
  readonly type: "image";
  readonly mimeType: string;
  /** Size before Base64. Absent for an image that the message only refers to. */
  readonly bytes?: number;
  readonly url?: string;
}

export interface HistoryFile {
  readonly type: "file";
  readonly mimeType: string;
  readonly name?: string;
  /** Size before Base64. Absent for a file that the message only refers to by `url`. */
  readonly bytes?: number;
  readonly url?: string;
}

/** In a message of the user, a text with `shownAs` is not the person's: see {@link TextContent}. */
type HistoryText = Omit<TextContent, "textSignature">;

export type HistoryPart = HistoryText | HistoryImage | HistoryFile;

type HistoryAnswerPart =
  | HistoryText
  | Omit<ThinkingContent, "thinkingSignature">
  | Omit<ToolCall, "argumentsText" | "thoughtSignature">
  | OpaqueContent
  | SourceContent
  | HistoryMedia;

/** An image or file of an answer, without its data. */
interface HistoryMedia {
  readonly type: "image" | "file";
  readonly mimeType?: string;
  readonly name?: string;
  /** Size before Base64. Absent for one that the message only refers to. */
  readonly bytes?: number;
}

interface HistoryUserMessage extends Omit<UserMessage, "content"> {
  readonly content: string | readonly HistoryPart[];
  /** As in a `WaitingMessage`, for a message that was added to a running run. */
  readonly messageId?: string;
}

export interface HistoryAssistantMessage extends Omit<AssistantMessage, "content"> {
  readonly content: readonly HistoryAnswerPart[];
}

export interface HistoryToolResult extends Omit<ToolResultMessage, "content"> {
  readonly content: readonly HistoryPart[];
}

export type HistoryMessage = HistoryUserMessage | HistoryAssistantMessage | HistoryToolResult;
