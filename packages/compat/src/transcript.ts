/**
 * What every shape needs of the transcript: calls from text, answers that came whole, and the
 * shape's words for failed calls.
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
 * A call as a model wrote it. Empty text is `{}`; text that is no JSON object makes a call that is
 * answered and never run.
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

/** A model's place in the transcript, for a provider that has none. */
export const standInModel = (name: string): Model => ({
  id: name,
  name,
  api: "",
  provider: name,
  baseUrl: "",
  reasoning: false,
  input: ["text"],
});

/** An answer in one piece, as the stream that the loop reads. `about` is what else is known of it. */
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

/** The system prompts in a list of messages as one; those that say nothing are left out. */
export function systemPromptOf(messages: readonly (Texts & { readonly role: string })[]): string {
  const prompts = messages.filter(({ role }) => role === "system").map(messageText);
  return prompts.filter((text) => text !== "").join("\n\n");
}

/**
 * The messages without answers that failed and what was said of their calls: these shapes have no
 * mark for them.
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

/**
 * How a shape words what the loop says of a call of this tool: unknown, refused, thrown, stopped.
 */
export type Wording = (toolName: string, text: string) => string;

/** The message in the shape's words; what the tool itself gave, which `details` marks, stays. */
export function reworded<T extends AgentMessage>(message: T, wording: Wording): T {
  if (message.role !== "toolResult" || message.details !== undefined) return message;
  return {
    ...message,
    content: [{ type: "text", text: wording(message.toolName, messageText(message)) }],
  };
}
