/**
 * A run as the UI message stream of the AI SDK 7, for `useChat` and `readUIMessageStream`. It needs
 * no package of the AI SDK.
 */
export { ChatRuns } from "./chat-runs.ts";
export type { ChatAgent, ChatRunsOptions, OpenChat } from "./chat-runs.ts";
export type { ChatSession, ChattingAgent, LeftRun } from "./chat-run.ts";
export type {
  UIAddedPart,
  UIDataChunk,
  UIFinishReason,
  UIFilePart,
  UIMessageChunk,
  UIUserPart,
  UIWholeChunk,
} from "./chunk.ts";
export { fromUIMessages } from "./from-ui-messages.ts";
export type { FromUIMessagesOptions, PostedAnswer, PostedChat } from "./from-ui-messages.ts";
export { openChats } from "./open-chats.ts";
export type { OpenChatsOptions } from "./open-chats.ts";
export type {
  UIData,
  UIFailure,
  UIMessageMetadata,
  UIMessageStreamOptions,
  UIToolResult,
} from "./options.ts";
export { toUIMessageResponse, toUIMessageStream } from "./to-ui-message-stream.ts";
export type { UIMessageResponseOptions } from "./to-ui-message-stream.ts";
export { toUIMessages } from "./to-ui-messages.ts";
export type { ToUIMessagesOptions, UIMessage, UIMessagePart } from "./to-ui-messages.ts";
