/** Describes images and files to clients: their types, names and sizes. */
import type { UserMessage } from "@bowline/core";
import type { Attachment, FileInfo, ImageInfo } from "./protocol.ts";

/** Images and files of a message, each only if there are any. */
export interface MediaInfo {
  readonly images?: readonly ImageInfo[];
  readonly files?: readonly FileInfo[];
}

/** Images by their URL are not described. */
export function mediaOf(
  content: readonly Attachment[] | undefined | UserMessage["content"] = [],
): MediaInfo {
  if (typeof content === "string") return {};
  const images: ImageInfo[] = [];
  const files: FileInfo[] = [];
  for (const part of content) {
    if (!("mimeType" in part) || part.mimeType === undefined) continue;
    const { mimeType, data } = part;
    const size = data === undefined ? {} : { bytes: bytesOf(data) };
    if (!mimeType.startsWith("image/"))
      files.push({ mimeType, ...("name" in part && { name: part.name }), ...size });
    else if (data !== undefined) images.push({ mimeType, bytes: bytesOf(data) });
  }
  return { ...(images.length > 0 && { images }), ...(files.length > 0 && { files }) };
}

/** Returns the number of bytes that a Base64 text encodes. */
export function bytesOf(data: string): number {
  const padding = /=*$/.exec(data.slice(-2))?.[0].length ?? 0;
  return Math.floor((data.length * 3) / 4) - padding;
}
