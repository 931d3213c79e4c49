/**
 * Makes files that were chosen, pasted or dropped ready to be sent: of a type that models take, and
 * small enough together.
 */
import { allot } from "./state/allot.ts";
import type { ImageType, ReadyImage } from "./state/sent-image.ts";
import { imageTypeOf } from "./text/image-type.ts";
import { bytesText } from "./text/wording.ts";

export interface ChosenImage {
  readonly id: string;
  readonly name: string;
  /** As it was chosen. */
  readonly file: Blob;
  readonly mimeType: ImageType;
  /** As it is sent. */
  readonly ready: ReadyImage;
}

export interface ImageLimits {
  readonly maxAttachments: number;
  /** Of all together. */
  readonly maxAttachmentBytes: number;
}

export interface Choice {
  readonly images: readonly ChosenImage[];
  /** What was left out, and why. */
  readonly problem?: string;
}

/** Less is not worth looking at. */
const LEAST_BYTES = 4096;
/** Of what is worth opening. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;
/** Models look at no more; it also bounds what is drawn. */
const MAX_SIDE = 2048;
const MIN_SIDE = 32;
const SHRINK = 0.8;
const QUALITY = 0.85;

type Source = Pick<ChosenImage, "id" | "name" | "file" | "mimeType">;

/**
 * Those that were chosen before, and these too, one after another; what cannot go with them is left
 * out.
 */
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
        throw new Error(`${limits.maxAttachments} images can go with a message, and no more.`);
      images = await fitImages([...images, await open(file, createId())], limits);
    } catch (error) {
      problem ??= (error as Error).message;
    }
  }
  return { images, ...(problem !== undefined && { problem }) };
}

/** Each as it is if they fit; else large ones are made smaller, anew from what was chosen. */
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
      `${last?.name} is too large: images have ${bytesText(max)} together at most.${why}`,
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

/** One that was sent before and came back. */
export function reopen(ready: ReadyImage, id: string): ChosenImage {
  const bytes = Uint8Array.from(atob(ready.data), (letter) => letter.charCodeAt(0));
  const { name, mimeType } = ready;
  return { id, name, mimeType, file: new Blob([bytes], { type: mimeType }), ready };
}

async function open(file: File, id: string): Promise<Source> {
  const { name, size } = file;
  if (size > MAX_FILE_BYTES) throw new Error(`${name} is too large.`);
  const mimeType = imageTypeOf(new Uint8Array(await file.slice(0, 12).arrayBuffer()));
  if (mimeType === undefined)
    throw new Error(`${name} cannot be sent: only PNG, JPEG, GIF and WebP images can.`);
  // That it can be seen is known before it is sent.
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

/** A JPEG of `room` bytes at most, on white: every model reads those. */
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
