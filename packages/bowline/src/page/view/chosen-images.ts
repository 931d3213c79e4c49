/**
 * Shows thumbnails of the message's images. They are painted on canvases, because the page's policy
 * forbids loading images.
 */
import type { VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { html } from "htm/preact";
import type { ChosenImage } from "../choose-images.ts";
import { bytesText } from "../text/wording.ts";
import { icon } from "./icon.ts";

export interface ChosenImagesProps {
  readonly images: readonly ChosenImage[];
  readonly onRemove: (id: string) => void;
}

/** Twice the displayed size, for high-resolution screens. */
const SIDE = 112;

export function ChosenImages({ images, onRemove }: ChosenImagesProps): VNode | undefined {
  if (images.length === 0) return undefined;
  return html`<ul class="chosen-images" aria-label="Images to send">
    ${images.map(
      ({ id, name, file, ready }) =>
        html`<li key=${id}>
          <${Thumbnail} file=${file} />
          <span class="chosen-about">
            <span class="chosen-name" title=${name}>${name}</span>
            <span class="faint"
              >${bytesText(ready.bytes)}${ready.bytes < file.size && ", made smaller"}</span
            >
          </span>
          <button type="button" class="quiet icon-only" onClick=${() => onRemove(id)}>
            ${icon("close")}<span class="offscreen">Remove ${name}</span>
          </button>
        </li>`,
    )}
  </ul>`;
}

function Thumbnail({ file }: { readonly file: Blob }): VNode {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    let isGone = false;
    const paint = async (): Promise<void> => {
      const bitmap = await createImageBitmap(file);
      const context = isGone ? undefined : canvas.current?.getContext("2d");
      if (context) {
        // Crop to the central square.
        const { width, height } = bitmap;
        const part = Math.min(width, height);
        context.imageSmoothingQuality = "high";
        context.drawImage(
          bitmap,
          (width - part) / 2,
          (height - part) / 2,
          part,
          part,
          0,
          0,
          SIDE,
          SIDE,
        );
      }
      bitmap.close();
    };
    paint().catch(() => {}); // the name is shown anyway
    return () => void (isGone = true);
  }, [file]);
  return html`<canvas ref=${canvas} width=${SIDE} height=${SIDE} aria-hidden="true"></canvas>`;
}
