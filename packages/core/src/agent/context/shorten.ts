/** Makes text and tool results shorter, and says in their place what was left out. */
import type { ToolResultMessage, UserContent } from "../../llm/message.ts";
import { estimateTokens, IMAGE_TOKENS } from "./tokens.ts";

/** What is no longer than a note stays: a note of a note says nothing. */
const LONGEST_NOTE = 40;

/**
 * The text, or its beginning and its end with a note between, of at most `maxTokens` as estimated;
 * a bare note when that is less than a note.
 */
export function shortenText(text: string, maxTokens: number): string {
  const tokens = estimateTokens(text);
  if (tokens <= maxTokens) return text;
  // The density of a text is not even: what is still too long is cut again.
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
  return text.length > LONGEST_NOTE ? `[${text.length} characters left out]` : text;
}

/** A result of at most `maxTokens` beside the notes. The same object when it is short enough. */
export function shortenResult(result: ToolResultMessage, maxTokens: number): ToolResultMessage {
  let left = maxTokens;
  let changed = false;
  const content = result.content.map((part): UserContent => {
    const short =
      part.type === "text"
        ? shortenTextPart(part.text, left)
        : left < IMAGE_TOKENS && imageNote(part.mimeType);
    left = Math.max(0, left - (part.type === "image" ? IMAGE_TOKENS : estimateTokens(part.text)));
    if (short === false) return part;
    changed = true;
    return { type: "text", text: short };
  });
  return changed ? { ...result, content } : result;
}

/** What stands in for an image. */
export function imageNote(mimeType: string): string {
  return `[${mimeType} left out]`;
}

function shortenTextPart(text: string, maxTokens: number): string | false {
  const short = shortenText(text, maxTokens);
  return short !== text && short;
}

/** An index that does not cut a surrogate pair in two. */
function wholeAt(text: string, index: number): number {
  const unit = text.charCodeAt(index);
  return unit >= 0xdc00 && unit <= 0xdfff ? index + 1 : index;
}
