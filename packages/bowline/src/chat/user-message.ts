/** Turns what was typed into a message for the model. */
import type { ImageContent, TextContent, UserMessage } from "@bowline/core";
import { wholeText, type Draft } from "../screen/editor/draft.ts";

/** What the model is told with a message when plan mode has been switched. */
const planNotes = {
  on: "[Plan mode is on: only reading tools run. Propose what you would change; do not change it.]",
  off: "[Plan mode is off: you may change things now.]",
} as const;

/** Begins the text that a hook adds to a message. */
export const HOOK_CONTEXT = "[context from a hook]\n";

export type PlanNote = keyof typeof planNotes;

/**
 * A paste is a part of its own, so that the transcript can fold it. The model gets every byte of
 * it.
 */
export function userMessage(draft: Draft, now: number, note?: PlanNote): UserMessage {
  const content: (TextContent | ImageContent)[] = [];
  let prose = "";
  const flush = (): void => {
    if (prose.trim() !== "") content.push({ type: "text", text: prose });
    prose = "";
  };
  for (const part of draft.parts) {
    if (part.type === "paste") {
      flush();
      content.push({ type: "text", text: part.text });
    } else prose += wholeText({ ...draft, parts: [part] });
  }
  flush();
  if (note !== undefined) content.push({ type: "text", text: planNotes[note] });
  for (const { mimeType, data } of draft.images) content.push({ type: "image", mimeType, data });
  const [only] = content;
  const isPlain = content.length === 1 && only?.type === "text";
  return { role: "user", content: isPlain ? only.text : content, timestamp: now };
}

/** Returns what a person typed and pasted, without what was added about plan mode and by hooks. */
export function typedText({ content }: Pick<UserMessage, "content">): string {
  if (typeof content === "string") return content;
  const notes: readonly string[] = Object.values(planNotes);
  const isAdded = (text: string): boolean => notes.includes(text) || text.startsWith(HOOK_CONTEXT);
  return content
    .flatMap((part) => (part.type === "text" && !isAdded(part.text) ? [part.text] : []))
    .join("");
}
