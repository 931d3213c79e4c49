/** Writes a conversation as text for the model that summarises it. */
import type { AssistantMessage, Message, UserContent } from "../../llm/message.ts";
import { shortenText } from "./shorten.ts";
import { estimateTokens } from "./tokens.ts";

/**
 * Maximum length of each text, call and result, in tokens. The first value with which the whole
 * fits is used.
 */
const lengths = [2000, 500, 125];

/**
 * Returns the previous summary and the messages as text of about `maxTokens` at most. Long parts
 * are shortened first.
 */
export function transcriptText(
  previous: string,
  messages: readonly Message[],
  maxTokens: number,
): string {
  const earlier =
    previous === ""
      ? ""
      : `<earlier_summary>\n${shortenText(previous, maxTokens / 4)}\n</earlier_summary>\n\n`;
  const left = maxTokens - estimateTokens(earlier);
  let text = "";
  for (const length of lengths) {
    text = messages.flatMap((message) => messageLines(message, length)).join("\n\n");
    if (estimateTokens(text) <= left) break;
  }
  return `${earlier}<conversation>\n${shortenText(text, left)}\n</conversation>`;
}

function messageLines(message: Message, length: number): string[] {
  const write = (who: string, text: string): string[] =>
    text.trim() === "" ? [] : [`[${who}]\n${shortenText(text, length)}`];
  switch (message.role) {
    case "user":
      return write(
        "user",
        typeof message.content === "string" ? message.content : partsText(message.content),
      );
    case "assistant":
      return assistantLines(message, write);
    case "toolResult":
      return write(
        `result of ${message.toolName}${message.isError ? ", an error" : ""}`,
        partsText(message.content) || "(none)",
      );
  }
}

/** Leaves out thinking and failed answers. */
function assistantLines(
  { content, stopReason }: AssistantMessage,
  write: (who: string, text: string) => string[],
): string[] {
  if (stopReason === "error") return [];
  return content.flatMap((part) => {
    if (part.type === "text") return write("assistant", part.text);
    if (part.type !== "toolCall") return [];
    return write(
      `assistant calls ${part.name}`,
      part.argumentsText || JSON.stringify(part.arguments),
    );
  });
}

function partsText(parts: readonly UserContent[]): string {
  return parts
    .map((part) => {
      if (part.type === "text") return part.text;
      const what = part.type === "image" ? "an image" : `a file${part.name ? ` ${part.name}` : ""}`;
      return `(${what}: ${part.mimeType ?? part.url})`;
    })
    .join("\n");
}
