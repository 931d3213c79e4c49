/** Shows code with its language and a copy button. Code is inserted as text, never as markup. */
import type { ComponentClass, VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { html } from "htm/preact";
import { copyText } from "../text/clipboard.ts";
import { icon } from "./icon.ts";
import { memo } from "./memo.ts";

const SHOWN_MS = 1600;

interface CodeProps {
  readonly code: string;
  readonly language: string;
}

interface CopyProps {
  readonly text: string;
  /** A word for what is copied. */
  readonly what?: string;
}

export const CodeBlock: ComponentClass<CodeProps> = memo(
  ({ code, language }: CodeProps): VNode =>
    html`<div class="code">
      <div class="code-top">
        <span>${language}</span>
        <${CopyButton} text=${code} />
      </div>
      <pre
        tabindex="0"
        role="region"
        aria-label=${language === "" ? "Code" : `Code, ${language}`}
      ><code>${code}</code></pre>
    </div>`,
);

export const CopyButton: ComponentClass<CopyProps> = memo(
  ({ text, what = "code" }: CopyProps): VNode => {
    const [said, say] = useState("");
    const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
    useEffect(() => () => clearTimeout(timer.current), []);
    const copy = async (): Promise<void> => {
      say((await copyText(text, document)) ? "Copied" : "Not copied");
      clearTimeout(timer.current);
      timer.current = setTimeout(() => say(""), SHOWN_MS);
    };
    return html`<button type="button" class="quiet copy" onClick=${() => void copy()}>
      ${icon(said === "Copied" ? "check" : "copy")}<span
        >${said === "" ? "Copy" : said}<span class="offscreen"> ${what}</span></span
      >
    </button>`;
  },
);

/** Creates a copy button for markup outside of components. */
export function copyButton(text: () => string): HTMLButtonElement {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "quiet copy";
  button.textContent = "Copy";
  button.addEventListener("click", () => {
    void copyText(text(), document).then((isDone) => {
      button.textContent = isDone ? "Copied" : "Not copied";
      setTimeout(() => (button.textContent = "Copy"), SHOWN_MS);
    });
  });
  return button;
}
