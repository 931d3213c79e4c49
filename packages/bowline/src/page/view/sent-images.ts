/** Lists a message's images by name, if known, type and size. The page does not load them. */
import type { VNode } from "preact";
import { html } from "htm/preact";
import type { SentImage } from "../state/sent-image.ts";
import { bytesText } from "../text/wording.ts";
import { icon } from "./icon.ts";

export function SentImages({
  images = [],
}: {
  readonly images?: readonly SentImage[];
}): VNode | undefined {
  if (images.length === 0) return undefined;
  return html`<ul class="sent-images" aria-label="Attached images">
    ${images.map(
      ({ name, mimeType, bytes }, index) =>
        html`<li key=${index} title=${mimeType}>
          ${icon("image")}<span class="sent-name">${name ?? mimeType}</span>
          ${bytes !== undefined && html`<span class="faint">${bytesText(bytes)}</span>`}
        </li>`,
    )}
  </ul>`;
}
