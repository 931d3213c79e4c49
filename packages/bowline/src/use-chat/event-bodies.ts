/** Events of an agent with what a page with `useChat` shows of them. */
import type {
  AgentEventBody,
  AssistantMessage,
  AssistantMessageEvent,
  Usage,
  UserContent,
  UserMessage,
} from "@bowline/core";
import type { AddedText, TokenCounts } from "../gateway/protocol/protocol.ts";

/** A page shows nothing else of a piece of an answer. */
interface Piece {
  readonly type: `${"text" | "thinking"}_${"delta" | "end"}` | "message_retract";
  readonly contentIndex: number;
  readonly delta?: string;
  readonly content?: string;
}

export function update(piece: Piece): AgentEventBody {
  return {
    type: "message_update",
    assistantMessageEvent: piece as unknown as AssistantMessageEvent,
    message: emptyAnswer(),
  };
}

export function emptyAnswer(): AssistantMessage {
  return { role: "assistant", content: [] } as unknown as AssistantMessage;
}

/** The content of a user's message. What a program added to it has a label here, and no text. */
export function userContent(
  text: string,
  added: readonly AddedText[] = [],
): UserMessage["content"] {
  if (added.length === 0) return text;
  const written: UserContent[] = text === "" ? [] : [{ type: "text", text }];
  const labels = added.map(({ label, file }): UserContent => ({
    type: "text",
    text: "",
    shownAs: label,
    ...(file !== undefined && { shownFile: file }),
  }));
  return [...written, ...labels];
}

export function endOf(
  reason: Extract<AgentEventBody, { readonly type: "agent_end" }>["reason"],
  counts: TokenCounts = {},
): Extract<AgentEventBody, { readonly type: "agent_end" }> {
  return { type: "agent_end", messages: [], reason, usage: usageOf(counts) };
}

function usageOf({
  inputTokens,
  outputTokens,
  cacheReadTokens,
  cacheWriteTokens,
  cost,
}: TokenCounts): Usage {
  const cached = (cacheReadTokens ?? 0) + (cacheWriteTokens ?? 0);
  return {
    ...(inputTokens !== undefined && { input: inputTokens - cached }),
    ...(outputTokens !== undefined && { output: outputTokens }),
    ...(cacheReadTokens !== undefined && { cacheRead: cacheReadTokens }),
    ...(cacheWriteTokens !== undefined && { cacheWrite: cacheWriteTokens }),
    ...(cost !== undefined && { cost: { total: cost } }),
  };
}
