import type { DraftImage } from "./draft.ts";

/** Where the editor gets images from. Rejects with an error whose message is for the person. */
export interface ImagePort {
  /** Reads an image file. Resolves to undefined if there is no such file. */
  file(path: string, signal: AbortSignal): Promise<DraftImage | undefined>;
  /** Reads an image from the clipboard. */
  clipboard(signal: AbortSignal): Promise<DraftImage>;
}
