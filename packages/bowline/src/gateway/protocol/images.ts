/** What clients are told of images: their types and sizes. */
import type { UserMessage } from "@bowline/core";
import type { Attachment, ImageInfo } from "./protocol.ts";

/** What is told of images; undefined when there are none. */
export function imagesOf(
  content: readonly Attachment[] | undefined | UserMessage["content"] = [],
): readonly ImageInfo[] | undefined {
  if (typeof content === "string") return undefined;
  const images = content.flatMap((part) =>
    "data" in part ? [{ mimeType: part.mimeType, bytes: bytesOf(part.data) }] : [],
  );
  return images.length === 0 ? undefined : images;
}

/** Of what is Base64. */
export function bytesOf(data: string): number {
  const padding = /=*$/.exec(data.slice(-2))?.[0].length ?? 0;
  return Math.floor((data.length * 3) / 4) - padding;
}
