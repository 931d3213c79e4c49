/** Shows a model's thinking, folded, as plain text. */
import type { ComponentClass, VNode } from "preact";
import { useState } from "preact/hooks";
import { html } from "htm/preact";
import { icon } from "./icon.ts";
import { memo } from "./memo.ts";

interface ThinkingProps {
  readonly text: string;
  readonly isGrowing: boolean;
}

export const Thinking: ComponentClass<ThinkingProps> = memo(
  ({ text, isGrowing }: ThinkingProps): VNode => {
    const [isOpen, open] = useState(false);
    return html`<details
      class="thinking"
      open=${isOpen}
      onToggle=${(event: Event) => open((event.currentTarget as HTMLDetailsElement).open)}
    >
      <summary>
        ${icon("thought")}<span>${isGrowing ? "Thinking…" : "Thought"}</span>${icon("chevron")}
      </summary>
      ${isOpen && html`<p class="thought">${text.trim()}</p>`}
    </details>`;
  },
);
