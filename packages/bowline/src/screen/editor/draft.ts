/** A message that is being written: text, folded pastes and images. */

export interface DraftImage {
  readonly mimeType: string;
  /** Base64. */
  readonly data: string;
  /** The size of the image in bytes. */
  readonly bytes: number;
  /** The file it came from. An image from the clipboard has none. */
  readonly path?: string;
}

export type DraftPart =
  /** `isMade`: of a command, not typed. Its `@path` mentions nothing. */
  | { readonly type: "text"; readonly text: string; readonly isMade?: true }
  | { readonly type: "paste"; readonly number: number; readonly text: string }
  | { readonly type: "image"; readonly number: number; readonly image: DraftImage }
  /** An image of a stored draft. The editor reads its file again. */
  | { readonly type: "imagePath"; readonly path: string };

export interface Draft {
  /** The parts in their order, exactly. The other fields are made from them. */
  readonly parts: readonly DraftPart[];
  /** The text as the editor shows it, with labels for pastes and images. */
  readonly text: string;
  /** The folded pastes by the number in their label. */
  readonly pastes: ReadonlyMap<number, string>;
  /** The images in the order of their labels. */
  readonly images: readonly DraftImage[];
}

export function draftOf(parts: readonly DraftPart[]): Draft {
  return {
    parts,
    text: parts.map(labelOf).join(""),
    pastes: new Map(
      parts.flatMap((part) => (part.type === "paste" ? [[part.number, part.text] as const] : [])),
    ),
    images: parts.flatMap((part) => (part.type === "image" ? [part.image] : [])),
  };
}

/** Returns the text for the model: pastes whole, and the labels of images. */
export function wholeText(draft: Draft): string {
  return draft.parts.map((part) => (part.type === "paste" ? part.text : labelOf(part))).join("");
}

/** Returns a part as the editor shows it. */
export function labelOf(part: DraftPart): string {
  switch (part.type) {
    case "text":
      return part.text;
    case "imagePath":
      return part.path;
    case "paste": {
      const { number, text } = part;
      const lines = lineCount(text);
      const count = `${lines.toLocaleString("en-US")} ${lines === 1 ? "line" : "lines"}`;
      return `[Pasted text #${number}, ${count}, ${sizeText(Buffer.byteLength(text))}]`;
    }
    case "image": {
      const kind = part.image.mimeType.replace(/^image\//, "").toUpperCase();
      return `[Image #${part.number}, ${kind}, ${sizeText(part.image.bytes)}]`;
    }
  }
}

/** Returns the number of lines. A line feed at the end does not begin another one. */
export function lineCount(text: string): number {
  let count = 1;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) count++;
  return text.endsWith("\n") ? count - 1 : count;
}

/** Formats 408894 as "409 kB". */
function sizeText(bytes: number): string {
  if (bytes < 1000) return `${bytes} ${bytes === 1 ? "byte" : "bytes"}`;
  const kilobytes = Math.round(bytes / 1000);
  return kilobytes < 1000 ? `${kilobytes} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
