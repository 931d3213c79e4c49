/** An image that went with a message, as far as it is known here. */
import type { Attachment, ImageInfo } from "../../gateway/protocol/protocol.ts";

export type ImageType = Attachment["mimeType"];

export interface SentImage extends Partial<ImageInfo> {
  readonly mimeType: string;
  /**
   * Of the file, and its content in Base64: known where it was sent from, until that is loaded
   * anew.
   */
  readonly name?: string;
  readonly data?: string;
}

/** One that can be sent. */
export interface ReadyImage extends SentImage {
  readonly mimeType: ImageType;
  readonly bytes: number;
  readonly name: string;
  readonly data: string;
}

export function isReady(image: SentImage): image is ReadyImage {
  return image.data !== undefined && image.name !== undefined && image.bytes !== undefined;
}
