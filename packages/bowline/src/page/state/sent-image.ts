/** An image of a message, as far as the page knows it. */
import type { Attachment, ImageInfo } from "../../gateway/protocol/protocol.ts";

export type ImageType = Extract<Attachment["mimeType"], `image/${string}`>;

export interface SentImage extends Partial<ImageInfo> {
  readonly mimeType: string;
  /**
   * The file's name and its content in Base64. Known only in the tab that sent it, until a reload.
   */
  readonly name?: string;
  readonly data?: string;
}

/** An image that can be sent. */
export interface ReadyImage extends SentImage {
  readonly mimeType: ImageType;
  readonly bytes: number;
  readonly name: string;
  readonly data: string;
}

export function isReady(image: SentImage): image is ReadyImage {
  return image.data !== undefined && image.name !== undefined && image.bytes !== undefined;
}
