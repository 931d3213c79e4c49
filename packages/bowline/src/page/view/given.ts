/**
 * What a tool is called with, field by field. Texts are shown as they are: as JSON a file's content
 * can hardly be read.
 */
import type { VNode } from "preact";
import { html } from "htm/preact";
import { visible } from "../text/visible.ts";

interface GivenProps {
  readonly value: unknown;
  /** What it is, for who does not see it. */
  readonly label: string;
}

/** Longer ones, and such of several lines, have a place of their own. */
const SHORT_LENGTH = 120;

export function Given({ value, label }: GivenProps): VNode {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  const fields = isObject ? Object.entries(value) : [];
  if (fields.length === 0) return textPlace(textOf(value), label);
  return html`<dl class="given" aria-label=${label}>
    ${fields.map(([name, field]) => {
      const text = textOf(field);
      const isLong = text.length > SHORT_LENGTH || text.includes("\n");
      return html`<div key=${name} class=${isLong ? "is-long" : ""}>
        <dt>${visible(name)}</dt>
        <dd>${isLong ? textPlace(text, visible(name)) : text}</dd>
      </div>`;
    })}
  </dl>`;
}

/** With room for as much as there is. */
export function textPlace(text: string, label: string): VNode {
  return html`<pre class="given-text" tabindex="0" role="region" aria-label=${label}>${text}</pre>`;
}

function textOf(value: unknown): string {
  return visible(
    typeof value === "string" && value !== "" ? value : (JSON.stringify(value, undefined, 2) ?? ""),
  );
}
