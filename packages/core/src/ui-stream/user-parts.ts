/** A user's message as a page shows it. */
import type { UserMessage } from "../llm/message.ts";
import type { UIUserPart } from "./chunk.ts";
import { filePart } from "./whole-part.ts";

/** Returns the parts of a user's message that a page can show. */
export function userParts({ content }: Pick<UserMessage, "content">): UIUserPart[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return content.flatMap((part): UIUserPart[] => {
    if (part.type === "text") return [{ type: "text", text: part.text }];
    const file = filePart(part);
    return file ? [file] : [];
  });
}
