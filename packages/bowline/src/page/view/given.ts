/**
 * Shows a tool's arguments, field by field. Strings are shown unescaped, because file contents are
 * hard to read as JSON.
 */
import type { VNode } from "preact";
import { html } from "htm/preact";
import { visible } from "../text/visible.ts";

interface GivenProps {
  readonly value: unknown;
  /** Label for screen readers. */
  readonly label: string;
}

/** Longer texts, and those with several lines, get their own box. */
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

/** Creates a box that grows with its text. */
export function textPlace(text: string, label: string): VNode {
  return html`<pre class="given-text" tabindex="0" role="region" aria-label=${label}>${text}</pre>`;
}

function textOf(value: unknown): string {
  return visible(
    typeof value === "string" && value !== "" ? value : (JSON.stringify(value, undefined, 2) ?? ""),
  );
}
