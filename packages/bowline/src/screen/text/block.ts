/** A block of Markdown that is not finished. */
import type { CodeBlock } from "./code-block.ts";
import type { Paragraph } from "./paragraph.ts";
import type { Table } from "./table.ts";

export type Block =
  | { readonly type: "paragraph" | "heading"; readonly content: Paragraph }
  | { readonly type: "code" | "indented" | "html"; readonly content: CodeBlock }
  | { readonly type: "table"; readonly content: Table };

export function cloneBlock(block: Block): Block {
  switch (block.type) {
    case "paragraph":
    case "heading":
      return { type: block.type, content: block.content.clone() };
    case "code":
    case "indented":
    case "html":
      return { type: block.type, content: block.content.clone() };
    case "table":
      return { type: block.type, content: block.content.clone() };
  }
}
