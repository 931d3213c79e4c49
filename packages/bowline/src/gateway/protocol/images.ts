/** Describes images to clients: their types and sizes. */
import type { UserMessage } from "@bowline/core";
import type { Attachment, ImageInfo } from "./protocol.ts";

/** Returns undefined if there are no images. */
export function imagesOf(
  content: readonly Attachment[] | undefined | UserMessage["content"] = [],
): readonly ImageInfo[] | undefined {
  if (typeof content === "string") return undefined;
  const images = content.flatMap((part) =>
    "data" in part && part.data !== undefined && part.mimeType.startsWith("image/")
      ? [{ mimeType: part.mimeType, bytes: bytesOf(part.data) }]
      : [],
  );
  return images.length === 0 ? undefined : images;
}

/** Returns the number of bytes that a Base64 text encodes. */
export function bytesOf(data: string): number {
  const padding = /=*$/.exec(data.slice(-2))?.[0].length ?? 0;
  return Math.floor((data.length * 3) / 4) - padding;
}
