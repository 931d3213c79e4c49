/** Parts that arrive whole, as a page shows them: sources, images and files. */
import type { FileContent, ImageContent, WholeContent } from "../llm/message.ts";
import type { UIFilePart, UIWholeChunk } from "./chunk.ts";

/**
 * Returns the part that shows an image or a file, or undefined if a page cannot load it. Only
 * `data:`, `http:` and `https:` URLs reach a page.
 */
export function filePart(part: ImageContent | FileContent): UIFilePart | undefined {
  const mediaType = part.mimeType ?? "image/*";
  const url = part.data === undefined ? webUrl(part.url) : dataUrl(part.data, mediaType);
  if (url === undefined) return undefined;
  const name = part.type === "file" ? part.name : undefined;
  return { type: "file", mediaType, url, ...(name !== undefined && { filename: name }) };
}

/**
 * Returns the chunk of a whole part, or undefined if a page cannot show it. `sourceId` is unique
 * within the message.
 */
export function wholeChunk(part: WholeContent, sourceId: string): UIWholeChunk | undefined {
  if (part.type !== "source") {
    const file = filePart(part);
    return file && { type: "file", mediaType: file.mediaType, url: file.url };
  }
  const { url, title, name, mimeType = "application/octet-stream" } = part;
  if (url !== undefined) {
    const shown = webUrl(url);
    return shown === undefined
      ? undefined
      : { type: "source-url", sourceId, url: shown, ...(title !== undefined && { title }) };
  }
  const shown = title ?? name;
  if (shown === undefined) return undefined;
  return {
    type: "source-document",
    sourceId,
    mediaType: mimeType,
    title: shown,
    ...(name !== undefined && { filename: name }),
  };
}

function dataUrl(data: string, mediaType: string): string {
  return data.startsWith("data:") ? data : `data:${mediaType};base64,${data}`;
}

/** The URL comes from a model or its server: `javascript:` must not become a link. */
function webUrl(url: string): string | undefined {
  return /^https?:\/\//i.test(url) ? url : undefined;
}
