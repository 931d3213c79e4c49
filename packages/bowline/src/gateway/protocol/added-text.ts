/**
 * Tells what a person wrote from what a program added to the message. The page bundles this file, so
 * it imports types only.
 */
import type { AddedText } from "./protocol.ts";

interface AnyPart {
  readonly type: string;
  readonly text?: string;
  readonly shownAs?: string;
  readonly shownFile?: string;
}

/** Returns the text that the person wrote. */
export function writtenText(content: string | readonly AnyPart[]): string {
  if (typeof content === "string") return content;
  return content
    .map((part) => (part.type === "text" && !isAdded(part) ? (part.text ?? "") : ""))
    .join("");
}

/** Returns the labels of the other texts, in their order. The field is absent if there are none. */
export function addedTo(content: string | readonly AnyPart[]): {
  readonly added?: readonly AddedText[];
} {
  if (typeof content === "string") return {};
  const added = content.filter((part) => isAdded(part)).map(labelOf);
  return added.length === 0 ? {} : { added };
}

/** Returns true for a text that a program added, such as the content of a file. */
export function isAdded<TPart extends AnyPart>(
  part: TPart,
): part is TPart & { readonly type: "text"; readonly shownAs: string } {
  return part.type === "text" && part.shownAs !== undefined;
}

export function labelOf({
  shownAs: label,
  shownFile: file,
}: Pick<AnyPart, "shownFile"> & { readonly shownAs: string }): AddedText {
  return { label, ...(file !== undefined && { file }) };
}
