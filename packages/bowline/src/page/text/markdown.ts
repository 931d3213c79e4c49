/**
 * A model's markdown as HTML text, which the sanitizer has still to look through. HTML of the model's own is shown as it was written,
 * but for a few tags of words. Images become links: nothing is loaded.
 */
import { Marked, type Token, type TokensList } from "marked";
import { safeLink } from "./link.ts";

/** Answers stand below headings of the page. */
const HEADING_SHIFT = 2;

/** Without attributes they can do no harm. */
const plainTag = /^<\/?(?:b|br|del|em|i|ins|kbd|mark|s|strong|sub|sup|u)\s*\/?>$/i;

export interface MarkdownReader {
  tokens(text: string): TokensList;
  /** Of one block. */
  toHtml(token: Token): string;
}

export function createMarkdownReader(): MarkdownReader {
  const marked = new Marked({
    gfm: true,
    async: false,
    renderer: {
      heading({ tokens, depth }) {
        const level = Math.min(6, depth + HEADING_SHIFT);
        return `<h${level}>${this.parser.parseInline(tokens)}</h${level}>`;
      },
      link({ href, tokens }) {
        return anchor(href, this.parser.parseInline(tokens));
      },
      image({ href, text }) {
        return anchor(href, `[image: ${escapeHtml(text === "" ? href : text)}]`);
      },
      checkbox: ({ checked }) => (checked ? "☑ " : "☐ "),
      html({ text, block }) {
        if (plainTag.test(text)) return text;
        return block ? `<p>${escapeHtml(text.trim())}</p>` : escapeHtml(text);
      },
      code: ({ text }) => `<pre><code>${escapeHtml(text)}</code></pre>`,
    },
  });
  return {
    tokens: (text) => marked.lexer(text),
    toHtml: (token) => marked.parser([token]),
  };
}

function anchor(href: string, inner: string): string {
  const address = safeLink(href);
  return address === undefined ? inner : `<a href="${escapeHtml(address)}">${inner}</a>`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (found) => `&#${found.charCodeAt(0)};`);
}
