/**
 * Messages of a transcript as clients get them: as `@bowline/core` has them, without what is for the
 * model's server alone (signatures, a call's arguments as text), and images as their size. A session
 * may have messages of an application's own beside these, with roles of their own.
 */
import type {
  AssistantMessage,
  OpaqueContent,
  TextContent,
  ThinkingContent,
  ToolCall,
  ToolResultMessage,
  UserMessage,
} from "@bowline/core";

export interface HistoryImage {
  readonly type: "image";
  readonly mimeType: string;
  /** Before it was made Base64. Absent for one that is not in the message, but named by it. */
  readonly bytes?: number;
}

type HistoryText = Omit<TextContent, "textSignature">;

export type HistoryPart = HistoryText | HistoryImage;

type HistoryAnswerPart =
  | HistoryText
  | Omit<ThinkingContent, "thinkingSignature">
  | Omit<ToolCall, "argumentsText" | "thoughtSignature">
  | OpaqueContent;

interface HistoryUserMessage extends Omit<UserMessage, "content"> {
  readonly content: string | readonly HistoryPart[];
  /** As in a `WaitingMessage`, of one that went into a run that went on. */
  readonly messageId?: string;
}

export interface HistoryAssistantMessage extends Omit<AssistantMessage, "content"> {
  readonly content: readonly HistoryAnswerPart[];
}

export interface HistoryToolResult extends Omit<ToolResultMessage, "content"> {
  readonly content: readonly HistoryPart[];
}

export type HistoryMessage = HistoryUserMessage | HistoryAssistantMessage | HistoryToolResult;
