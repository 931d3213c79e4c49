/** A user's message as a page shows it. */
import type { UserMessage } from "../llm/message.ts";
import type { UIAddedPart, UIUserPart } from "./chunk.ts";
import { filePart } from "./whole-part.ts";

/**
 * Returns the parts of a user's message that a page can show. A text that a program added is no text of
 * the user: only its label is shown.
 */
export function userParts({ content }: Pick<UserMessage, "content">): (UIUserPart | UIAddedPart)[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return content.flatMap((part): (UIUserPart | UIAddedPart)[] => {
    if (part.type === "text") {
      const { text, shownAs: label, shownFile: file } = part;
      if (label === undefined) return [{ type: "text", text }];
      return [{ type: "data-added", data: { label, ...(file !== undefined && { file }) } }];
    }
    const file = filePart(part);
    return file ? [file] : [];
  });
}
