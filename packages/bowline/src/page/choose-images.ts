/**
 * Prepares chosen, pasted or dropped files for sending: checks their type and shrinks them to fit
 * the limit.
 */
import { allot } from "./state/allot.ts";
import type { ImageType, ReadyImage } from "./state/sent-image.ts";
import { imageTypeOf } from "./text/image-type.ts";
import { bytesText } from "./text/wording.ts";

export interface ChosenImage {
  readonly id: string;
  readonly name: string;
  /** The file as chosen. */
  readonly file: Blob;
  readonly mimeType: ImageType;
  /** The image as it is sent. */
  readonly ready: ReadyImage;
}

export interface ImageLimits {
  readonly maxAttachments: number;
  /** Size limit of all images together. */
  readonly maxAttachmentBytes: number;
}

export interface Choice {
  readonly images: readonly ChosenImage[];
  /** The images that were left out, and why. */
  readonly problem?: string;
}

/** Smaller images are not worth sending. */
const LEAST_BYTES = 4096;
/** Largest file to open. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;
/** Models do not use more pixels; it also limits the canvas. */
const MAX_SIDE = 2048;
const MIN_SIDE = 32;
const SHRINK = 0.8;
const QUALITY = 0.85;

type Source = Pick<ChosenImage, "id" | "name" | "file" | "mimeType">;

/** Adds files to the chosen images, one after another. Images that do not fit are left out. */
export async function addImages(
  chosen: readonly ChosenImage[],
  files: readonly File[],
  limits: ImageLimits,
  createId: () => string,
): Promise<Choice> {
  let [images, problem]: [readonly ChosenImage[], string | undefined] = [chosen, undefined];
  for (const file of files) {
    try {
      if (images.length >= limits.maxAttachments)
        throw new Error(`A message can have at most ${limits.maxAttachments} images.`);
      images = await fitImages([...images, await open(file, createId())], limits);
    } catch (error) {
      problem ??= (error as Error).message;
    }
  }
  return { images, ...(problem !== undefined && { problem }) };
}

/** Keeps images that fit. Otherwise shrinks large ones, starting from the chosen files. */
export async function fitImages(
  sources: readonly (Source & Partial<ChosenImage>)[],
  { maxAttachmentBytes: max }: ImageLimits,
): Promise<ChosenImage[]> {
  const sizes = sources.map(({ file, mimeType }) => ({
    bytes: file.size,
    isFixed: mimeType === "image/gif",
  }));
  const rooms = allot(sizes, max, LEAST_BYTES);
  const last = sources.at(-1);
  if (rooms === undefined) {
    const why = last?.mimeType === "image/gif" ? " A GIF is not made smaller." : "";
    throw new Error(
      `${last?.name} is too large: images can have ${bytesText(max)} together.${why}`,
    );
  }
  return Promise.all(
    sources.map(async (source, index) => {
      const { id, name, file, mimeType, ready } = source;
      const room = rooms[index] ?? 0;
      const isWhole = file.size <= room;
      if (
        ready !== undefined &&
        (isWhole ? ready.bytes === file.size : ready.bytes <= room && ready.bytes > room / 2)
      )
        return { id, name, file, mimeType, ready };
      const blob = isWhole ? file : await shrink(source, room);
      const type = isWhole ? mimeType : "image/jpeg";
      return {
        id,
        name,
        file,
        mimeType,
        ready: { name, mimeType: type, bytes: blob.size, data: await toBase64(blob) },
      };
    }),
  );
}

/** Restores an image of a message that was refused. */
export function reopen(ready: ReadyImage, id: string): ChosenImage {
  const bytes = Uint8Array.from(atob(ready.data), (letter) => letter.charCodeAt(0));
  const { name, mimeType } = ready;
  return { id, name, mimeType, file: new Blob([bytes], { type: mimeType }), ready };
}

async function open(file: File, id: string): Promise<Source> {
  const { name, size } = file;
  if (size > MAX_FILE_BYTES) throw new Error(`${name} is too large.`);
  const mimeType = imageTypeOf(new Uint8Array(await file.slice(0, 12).arrayBuffer()));
  if (mimeType === undefined) throw new Error(`${name} is not a PNG, JPEG, GIF or WebP image.`);
  // Check that the image can be decoded before it is sent.
  (await bitmapOf({ name, file })).close();
  return { id, name, file, mimeType };
}

async function bitmapOf({ name, file }: Pick<Source, "name" | "file">): Promise<ImageBitmap> {
  try {
    return await createImageBitmap(file);
  } catch {
    throw new Error(`${name} cannot be read as an image.`);
  }
}

/** Shrinks to a JPEG of at most `room` bytes, on white. All models accept JPEG. */
async function shrink(source: Source, room: number): Promise<Blob> {
  const bitmap = await bitmapOf(source);
  try {
    const { width, height } = bitmap;
    const largest = Math.max(width, height);
    for (let side = Math.min(largest, MAX_SIDE); side >= MIN_SIDE; side *= SHRINK) {
      const scale = side / largest;
      const blob = await draw(
        bitmap,
        Math.max(1, Math.round(width * scale)),
        Math.max(1, Math.round(height * scale)),
      );
      if (blob !== null && blob.size <= room) return blob;
    }
  } finally {
    bitmap.close();
  }
  throw new Error(`${source.name} is too large, and could not be made smaller.`);
}

function draw(bitmap: ImageBitmap, width: number, height: number): Promise<Blob | null> {
  const canvas = Object.assign(document.createElement("canvas"), { width, height });
  const context = canvas.getContext("2d");
  if (context === null) return Promise.resolve(null);
  context.fillStyle = "#fff";
  context.fillRect(0, 0, width, height);
  context.imageSmoothingQuality = "high";
  context.drawImage(bitmap, 0, 0, width, height);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/jpeg", QUALITY));
}

async function toBase64(blob: Blob): Promise<string> {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  const letters: string[] = [];
  for (let at = 0; at < bytes.length; at += 8192)
    letters.push(String.fromCharCode(...bytes.subarray(at, at + 8192)));
  return btoa(letters.join(""));
}
