/** Lists a message's images and files by name, if known, type and size. They are not loaded. */
import type { VNode } from "preact";
import { html } from "htm/preact";
import type { FileInfo } from "../../gateway/protocol/protocol.ts";
import type { SentImage } from "../state/sent-image.ts";
import { bytesText } from "../text/wording.ts";
import { icon } from "./icon.ts";

export function SentImages({
  images = [],
  files = [],
}: {
  readonly images?: readonly SentImage[];
  readonly files?: readonly FileInfo[];
}): VNode | undefined {
  const all = [...images, ...files];
  if (all.length === 0) return undefined;
  const what = files.length === 0 ? "Attached images" : "Attached files";
  return html`<ul class="sent-images" aria-label=${what}>
    ${all.map(
      ({ name, mimeType, bytes }, index) =>
        html`<li key=${index} title=${mimeType}>
          ${icon(index < images.length ? "image" : "file")}<span class="sent-name">${name ?? mimeType}</span>
          ${bytes !== undefined && html`<span class="faint">${bytesText(bytes)}</span>`}
        </li>`,
    )}
  </ul>`;
}
