/** The types of the gateway's providers. */
import type { FileContent, ImageContent } from "@bowline/core";

export type ChatEvent =
  | { type: "delta"; text: string }
  | { type: "tool_call"; name: string; input: Record<string, unknown>; callId: string }
  /**
   * Ends a complete answer, once. `inputTokens` is the whole prompt, cached or not. Counts that the
   * server did not report are 0.
   */
  | { type: "final"; usage: { inputTokens: number; outputTokens: number } }
  | { type: "error"; message: string };

export type ContentBlock =
  | { type: "text"; text: string }
  | { type: "tool_use"; id: string; name: string; input: Record<string, unknown> }
  | {
      type: "tool_result";
      tool_use_id: string;
      content: string;
      /** Base64 with a `mimeType`. Absent if the tool returned none. */
      images?: readonly ImageContent[];
      files?: readonly FileContent[];
      is_error?: boolean;
    }
  /** An image in a user's message. */
  | ImageContent
  | FileContent;

export interface Message {
  role: "user" | "assistant";
  content: string | ContentBlock[];
}

export interface ToolDefinition {
  name: string;
  description: string;
  /** JSON Schema of the input. */
  inputSchema: Record<string, unknown>;
}

export interface ChatParams {
  model: string;
  systemPrompt: string;
  messages: Message[];
  tools: ToolDefinition[];
  /** Aborts the request. */
  signal?: AbortSignal;
  maxTokens?: number;
}

export interface ModelProvider {
  id: string;
  chat(params: ChatParams): AsyncIterable<ChatEvent>;
}
