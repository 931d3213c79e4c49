/** Shows the call of a question: its arguments, its folder, and the reason for asking. */
import type { VNode } from "preact";
import { html } from "htm/preact";
import type { Approval } from "../../gateway/protocol/protocol.ts";
import { visible } from "../text/visible.ts";
import { Given, textPlace } from "./given.ts";

/** Longer calls may not fit in the box. */
const SHORT = { lines: 15, length: 700 };

export function AskedCall({ approval }: { readonly approval: Approval }): VNode {
  const { command, arguments: args, workingDir, reason } = approval;
  const note = lengthNote(command === undefined ? args : { command });
  return html`${
    command === undefined
      ? html`<${Given} value=${args} label="What would be done" />`
      : textPlace(visible(command), "What would run")
  }
  ${note !== undefined && html`<p class="question-note"><strong>${note}</strong></p>`}
  ${workingDir !== undefined && html`<p class="question-note">in <code>${workingDir}</code></p>`}
  ${reason !== undefined && html`<p class="question-note">${reason}</p>`}`;
}

/** Describes the length of the longest text. */
function lengthNote(given: unknown): string | undefined {
  const texts = Object.values(given ?? {}).map((value) =>
    typeof value === "string" ? value : JSON.stringify(value),
  );
  const [longest = ""] = texts.toSorted((a, b) => b.length - a.length);
  const lines = longest.split("\n").length;
  if (lines <= SHORT.lines && longest.length <= SHORT.length) return undefined;
  return `This is long (${lines} lines, ${longest.length} characters). Scroll in the box to see all of it.`;
}
