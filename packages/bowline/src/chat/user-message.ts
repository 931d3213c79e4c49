/** Turns what was typed into a message for the model. */
import type { TextContent, UserContent, UserMessage } from "@bowline/core";
import { wholeText, type Draft } from "../screen/editor/draft.ts";

/** What the model is told with a message when plan mode has been switched. */
const planNotes = {
  on: {
    text: "[Plan mode is on: only reading tools run. Propose what you would change; do not change it.]",
    shownAs: "a note for the model: plan mode is on",
  },
  off: {
    text: "[Plan mode is off: you may change things now.]",
    shownAs: "a note for the model: plan mode is off",
  },
} as const;

export type PlanNote = keyof typeof planNotes;

/**
 * A paste is a part of its own, so that the transcript can fold it. The model gets every byte of
 * it.
 */
export function userMessage(draft: Draft, now: number, note?: PlanNote): UserMessage {
  const content: UserContent[] = [];
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
  for (const { mimeType, data } of draft.images) content.push({ type: "image", mimeType, data });
  if (note !== undefined) content.push({ type: "text", ...planNotes[note] });
  const [only] = content;
  const isPlain = content.length === 1 && only?.type === "text";
  return { role: "user", content: isPlain ? only.text : content, timestamp: now };
}

/** Returns what a person typed and pasted, without the text that was added to it. */
export function typedText({ content }: Pick<UserMessage, "content">): string {
  if (typeof content === "string") return content;
  return content.map((part) => (part.type === "text" && !isAdded(part) ? part.text : "")).join("");
}

/** Returns the message with a further part. */
export function withParts(message: UserMessage, parts: readonly UserContent[]): UserMessage {
  const { content } = message;
  const before = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
  return parts.length === 0 ? message : { ...message, content: [...before, ...parts] };
}

/** Returns true for text that the person did not write, such as the content of a file. */
export function isAdded(part: UserContent | undefined): part is TextContent & { shownAs: string } {
  return part?.type === "text" && part.shownAs !== undefined;
}
