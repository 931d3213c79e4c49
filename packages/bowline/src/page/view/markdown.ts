/** Shows a model's text as blocks and redraws only the changed ones. */
import type { ComponentClass, VNode } from "preact";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { html } from "htm/preact";
import { noPieces, readAll, readMore, type Pieces } from "../text/pieces.ts";
import { copyButton, CodeBlock } from "./code-block.ts";
import { useTools } from "./context.ts";
import { memo } from "./memo.ts";

interface MarkdownProps {
  readonly text: string;
  /** True while more text may come. */
  readonly isGrowing: boolean;
}

export const Markdown: ComponentClass<MarkdownProps> = memo(
  ({ text, isGrowing }: MarkdownProps): VNode => {
    const { reader } = useTools();
    const before = useRef<Pieces>(noPieces);
    const pieces = useMemo(
      () => (isGrowing ? readMore(before.current, text, reader) : readAll(text, reader)),
      [text, isGrowing, reader],
    );
    before.current = isGrowing ? pieces : noPieces;
    return html`<div class="markdown">
      ${pieces.all.map((piece, index) =>
        piece.type === "code"
          ? html`<${CodeBlock} key=${index} code=${piece.code} language=${piece.language} />`
          : html`<${Html} key=${index} html=${piece.html} />`,
      )}
    </div>`;
  },
);

const Html = memo(({ html: source }: { readonly html: string }): VNode => {
  const { sanitize } = useTools();
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const nodes = sanitize(source);
    for (const code of nodes.querySelectorAll("pre")) addCopyButton(code);
    for (const table of nodes.querySelectorAll("table")) makeScrollable(table);
    for (const link of nodes.querySelectorAll("a")) sayItOpensElsewhere(link);
    place.current?.replaceChildren(nodes);
  }, [source, sanitize]);
  return html`<div class="piece" ref=${place}></div>`;
});

/** Adds a button to code inside lists and quotes. */
function addCopyButton(code: HTMLElement): void {
  const frame = document.createElement("div");
  frame.className = "code";
  code.tabIndex = 0;
  code.replaceWith(frame);
  frame.append(
    copyButton(() => code.textContent ?? ""),
    code,
  );
}

function makeScrollable(table: HTMLElement): void {
  const frame = document.createElement("div");
  frame.className = "table";
  frame.tabIndex = 0;
  frame.role = "region";
  frame.ariaLabel = "Table";
  table.replaceWith(frame);
  frame.append(table);
}

function sayItOpensElsewhere(link: HTMLElement): void {
  const note = document.createElement("span");
  note.className = "offscreen";
  note.textContent = " (opens in a new tab)";
  link.append(note);
}
