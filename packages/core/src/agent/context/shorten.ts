/** Shortens text and tool results, with a note in place of what was left out. */
import type {
  FileContent,
  ImageContent,
  ToolResultMessage,
  UserContent,
} from "../../llm/message.ts";
import { estimateTokens, mediaTokens } from "./tokens.ts";

/** Length of the longest note. Shorter text stays, because a note would not save anything. */
const LONGEST_NOTE = 40;

/**
 * Shortens text to at most `maxTokens` estimated tokens: its beginning and end with a note between.
 * Returns only a note when even that does not fit.
 */
export function shortenText(text: string, maxTokens: number): string {
  const tokens = estimateTokens(text);
  if (tokens <= maxTokens || text.length <= LONGEST_NOTE) return text;
  // Tokens are not spread evenly in a text, so cut again while it is too long.
  for (
    let length = Math.floor((text.length * maxTokens) / tokens);
    length > 0;
    length = Math.floor(length * 0.8) - 1
  ) {
    const start = wholeAt(text, Math.ceil((length * 2) / 3));
    const end = wholeAt(text, text.length - Math.floor(length / 3));
    const short = `${text.slice(0, start)}\n[${end - start} characters left out]\n${text.slice(end)}`;
    if (estimateTokens(short) <= maxTokens) return short;
  }
  return `[${text.length} characters left out]`;
}

/**
 * Shortens a result to at most `maxTokens`, not counting notes. Returns the same object if it is
 * short enough.
 */
export function shortenResult(result: ToolResultMessage, maxTokens: number): ToolResultMessage {
  let left = maxTokens;
  let changed = false;
  const content = result.content.map((part): UserContent => {
    const isText = part.type === "text";
    const tokens = isText ? estimateTokens(part.text) : mediaTokens(part);
    const short = isText ? shortenTextPart(part.text, left) : left < tokens && mediaNote(part);
    left = Math.max(0, left - tokens);
    if (short === false) return part;
    changed = true;
    return { type: "text", text: short };
  });
  return changed ? { ...result, content } : result;
}

/** Returns the note that replaces an image or a file. */
export function mediaNote({ type, mimeType = type }: ImageContent | FileContent): string {
  const note = `[${mimeType.replace(/;.*/s, "")} left out]`;
  return note.length > LONGEST_NOTE ? `[${type} left out]` : note;
}

function shortenTextPart(text: string, maxTokens: number): string | false {
  const short = shortenText(text, maxTokens);
  return short !== text && short;
}

/** Returns the nearest index that does not split a surrogate pair. */
function wholeAt(text: string, index: number): number {
  const unit = text.charCodeAt(index);
  return unit >= 0xdc00 && unit <= 0xdfff ? index + 1 : index;
}
