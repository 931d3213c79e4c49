/** The types of attachments: images that every wire takes, and files that some take. */
export const imageTypes = ["image/png", "image/jpeg", "image/gif", "image/webp"] as const;
export const fileTypes = [
  "application/pdf",
  "application/json",
  "text/plain",
  "text/markdown",
  "text/csv",
  "audio/mpeg",
  "audio/wav",
  "video/mp4",
] as const;

export type AttachmentType = (typeof imageTypes)[number] | (typeof fileTypes)[number];
