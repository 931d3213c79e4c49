/**
 * Transcript helpers shared by all shapes: calls from text, whole answers, and the wording of
 * failed calls.
 */
import type { AgentMessage } from "@bowline/core/agent";
import {
  type AssistantMessageEvent,
  messageText,
  type AssistantContent,
  type AssistantMessage,
  type ToolCall,
  type Model,
} from "@bowline/core";

type Texts = Parameters<typeof messageText>[0];

/**
 * Creates a call from a model's text. Empty text means `{}`. Text that is not a JSON object makes a
 * call that is answered with an error and never run.
 */
export function toToolCall(id: string, name: string, argumentsText: string): ToolCall {
  const call = { type: "toolCall", id, name, arguments: {}, argumentsText } as const;
  try {
    const value: unknown = JSON.parse(argumentsText.trim() || "{}");
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      return { ...call, arguments: value as Record<string, unknown> };
    return { ...call, argumentsError: "The arguments must be a JSON object." };
  } catch (error) {
    return {
      ...call,
      argumentsError: `The arguments are not valid JSON: ${(error as Error).message}`,
    };
  }
}

/** A placeholder model for a provider without one. */
export const standInModel = (name: string): Model => ({
  id: name,
  name,
  api: "",
  provider: name,
  baseUrl: "",
  reasoning: false,
  input: ["text"],
});

/** Streams a complete answer to the loop. `about` holds further fields of the message. */
export async function* wholeAnswer(
  content: AssistantContent[],
  reason: "stop" | "length" | "toolUse",
  { api, provider, id }: Model,
  timestamp: number,
  about: Partial<AssistantMessage> = {},
): AsyncGenerator<AssistantMessageEvent> {
  const message: AssistantMessage = {
    role: "assistant",
    api,
    provider,
    model: id,
    timestamp,
    usage: {},
    ...about,
    content,
    stopReason: reason,
  };
  yield { type: "done", attempt: 1, reason, message };
}

/** Joins all system prompts in a list of messages. Empty ones are omitted. */
export function systemPromptOf(messages: readonly (Texts & { readonly role: string })[]): string {
  const prompts = messages.filter(({ role }) => role === "system").map(messageText);
  return prompts.filter((text) => text !== "").join("\n\n");
}

/**
 * Removes failed answers and the results of their calls, because these shapes cannot represent
 * them.
 */
export function withoutFailures(messages: readonly AgentMessage[]): AgentMessage[] {
  let failed = false;
  return messages.filter((message) => {
    if (message.role === "assistant") failed = hasFailed(message);
    return !failed || message.role === "user";
  });
}

export function hasFailed({ stopReason }: AssistantMessage): boolean {
  return stopReason === "error" || stopReason === "aborted";
}

/** The shape's wording for the loop's messages about a call: unknown, refused, thrown, aborted. */
export type Wording = (toolName: string, text: string) => string;

/** Rewords a result of the loop. A tool's own result, marked by `details`, stays unchanged. */
export function reworded<T extends AgentMessage>(message: T, wording: Wording): T {
  if (message.role !== "toolResult" || message.details !== undefined) return message;
  return {
    ...message,
    content: [{ type: "text", text: wording(message.toolName, messageText(message)) }],
  };
}
