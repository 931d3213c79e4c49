/**
 * Lists what a program added to a message, beside what the person wrote: attached files and notes for
 * the model. Their text is folded. While a run is live, only the labels are known.
 */
import type { ComponentClass, VNode } from "preact";
import { useState } from "preact/hooks";
import { html } from "htm/preact";
import type { ShownAddition } from "../state/run-view.ts";
import { visible } from "../text/visible.ts";
import { textPlace } from "./given.ts";
import { icon } from "./icon.ts";
import { memo } from "./memo.ts";

export function Added({ added }: { readonly added: readonly ShownAddition[] }): VNode {
  return html`<ul class="added" aria-label="Added to the message">
    ${added.map((one, index) => html`<li key=${index}><${Addition} ...${one} /></li>`)}
  </ul>`;
}

const Addition: ComponentClass<ShownAddition> = memo(
  ({ label, file, text }: ShownAddition): VNode => {
    const [isOpen, open] = useState(false);
    const name = html`${icon(file === undefined ? "note" : "file")}<span class="sent-name"
        >${visible(label)}</span
      >`;
    if (text === undefined) return html`<span class="addition">${name}</span>`;
    return html`<details
      class="addition"
      open=${isOpen}
      onToggle=${(event: Event) => open((event.currentTarget as HTMLDetailsElement).open)}
    >
      <summary>${name}${icon("chevron")}</summary>
      ${isOpen && textPlace(visible(text), visible(label))}
    </details>`;
  },
);
