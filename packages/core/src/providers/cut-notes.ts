/** Notes for the model on answers that were cut, after which the transcript went on. */
import { isBlank } from "./is-blank.ts";
import type { AssistantMessage, Message, TextContent } from "../llm/message.ts";

/**
 * Returns the messages with a note after each aborted answer that has text: in the next user
 * message, or as one of its own. At the very end the note makes the model answer, rather than
 * complete what was cut.
 */
export function withCutNotes(messages: readonly Message[]): readonly Message[] {
  if (!messages.some(needsNote)) return messages;
  const noted: Message[] = [];
  let cut: AssistantMessage | undefined;
  for (const message of messages) {
    if (cut !== undefined && message.role === "user") {
      const { content } = message;
      const parts = typeof content === "string" ? [textPart(content)] : content;
      noted.push({ ...message, content: [noteOn(cut), ...parts] });
    } else {
      if (cut !== undefined && message.role === "assistant") noted.push(userNote(cut));
      noted.push(message);
    }
    if (message.role !== "toolResult") cut = needsNote(message) ? message : undefined;
  }
  if (cut !== undefined) noted.push(userNote(cut));
  return noted;
}

function needsNote(message: Message): message is AssistantMessage {
  return (
    message.role === "assistant" &&
    message.stopReason === "aborted" &&
    message.content.some((part) => part.type === "text" && !isBlank(part.text))
  );
}

function userNote(cut: AssistantMessage): Message {
  return { role: "user", content: [noteOn(cut)], timestamp: cut.timestamp };
}

function noteOn({ errorMessage = "It was aborted." }: AssistantMessage): TextContent {
  return textPart(`[The answer above is incomplete. ${errorMessage}]`);
}

function textPart(text: string): TextContent {
  return { type: "text", text };
}
