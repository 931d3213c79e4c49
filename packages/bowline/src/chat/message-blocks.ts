/** Turns stored messages into blocks, for live conversations and for the past alike. */
import {
  billedUsage,
  messageText,
  type AssistantMessage,
  type UserMessage,
} from "@bowline/core";
import type { Block } from "./block.ts";

export function userBlock(message: Pick<UserMessage, "content">): Block {
  const { content } = message;
  const media =
    typeof content === "string" ? 0 : content.filter(({ type }) => type !== "text").length;
  const text =
    typeof content === "string"
      ? content
      : content
          .flatMap((part) => (part.type === "text" ? [part.text] : []))
          .join("\n");
  return { type: "user", text, media };
}

/** The blocks at the end of an answer: the end of its text, and the line of its request. */
export function blocksOfEnd(message: AssistantMessage, now: number): Block[] {
  const { provider, model, timestamp } = message;
  return [
    { type: "text_end" },
    {
      type: "request",
      model: `${provider}/${model}`,
      usage: billedUsage(message),
      ms: Math.max(0, now - timestamp),
    },
  ];
}

/** The blocks of a stored answer, in the order in which they were streamed. */
export function blocksOfAnswer(message: AssistantMessage, endedAt: number): Block[] {
  const content = message.content.flatMap((part): Block[] => {
    if (part.type === "text")
      return [{ type: "text", delta: part.text }, { type: "text_end" }];
    if (part.type !== "thinking") return [];
    const words = part.thinking.split(/\s+/).filter((word) => word !== "").length;
    return [{ type: "thought", words }];
  });
  return [...content, ...blocksOfEnd(message, endedAt)];
}

/** The size of the context after an answer, in tokens, if the server reported it. */
export function contextOf({ usage }: AssistantMessage): number | undefined {
  const { input, output = 0, cacheRead = 0, cacheWrite = 0 } = usage;
  return input === undefined ? undefined : input + cacheRead + cacheWrite + output;
}

/** The answer's text, for copying. */
export function answerText(message: AssistantMessage): string {
  return messageText(message);
}
