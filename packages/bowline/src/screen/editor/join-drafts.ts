/** Joins drafts into one, each on a line of its own. */
import { draftOf, type Draft, type DraftPart } from "./draft.ts";

export function joinDrafts(drafts: readonly Draft[]): Draft {
  const parts: DraftPart[] = [];
  for (const draft of drafts) {
    if (draft.parts.length === 0 || draft.text === "") continue;
    if (parts.length > 0) parts.push({ type: "text", text: "\n" });
    parts.push(...draft.parts);
  }
  let number = 0;
  return draftOf(
    parts.map((part) =>
      part.type === "paste" || part.type === "image" ? { ...part, number: ++number } : part,
    ),
  );
}
