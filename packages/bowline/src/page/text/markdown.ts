/**
 * Converts a model's markdown to HTML, which must still be sanitised. Raw HTML is shown as text,
 * except for a few inline tags. Images become links, so that nothing is loaded.
 */
import { Lexer, Marked, Tokenizer, type Token, type TokensList } from "marked";
import { safeLink } from "./link.ts";

/** Headings in answers rank below the page's own headings. */
const HEADING_SHIFT = 2;

/**
 * Limits on inline parsing, which is quadratic in the length of a paragraph. Longer paragraphs are
 * not parsed, and longer emphasis is not recognised.
 */
const MAX_PARAGRAPH = 10_000;
const MAX_EMPHASIS = 1000;
/** Characters before the current position that emphasis depends on. */
const BEFORE = 100;

/** Tags that are harmless without attributes. */
const plainTag = /^<\/?(?:b|br|del|em|i|ins|kbd|mark|s|strong|sub|sup|u)\s*\/?>$/i;

export interface MarkdownReader {
  tokens(text: string): TokensList;
  /** Renders one block. */
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
    tokens: (text) =>
      new BoundedLexer({ ...marked.defaults, tokenizer: new NearTokenizer() }).lex(text),
    toHtml: (token) => marked.parser([token]),
  };
}

class BoundedLexer extends Lexer {
  override inlineTokens(src: string, tokens: Token[] = []): Token[] {
    if (src.length <= MAX_PARAGRAPH) return super.inlineTokens(src, tokens);
    tokens.push({ type: "text", raw: src, text: src });
    return tokens;
  }
}

class NearTokenizer extends Tokenizer {
  override emStrong(...from: Place): ReturnType<Tokenizer["emStrong"]> {
    return super.emStrong(...near(from));
  }

  override del(...from: Place): ReturnType<Tokenizer["del"]> {
    return super.del(...near(from));
  }
}

/**
 * Arguments of marked's tokenizer: the text from here on, a copy of the whole text with links
 * masked, and the character before.
 */
type Place = [src: string, masked: string, previous?: string];

function near([src, masked, previous = ""]: Place): Place {
  const at = masked.length - src.length;
  const copy = masked.slice(Math.max(0, at - BEFORE), at + MAX_EMPHASIS);
  return [src.slice(0, MAX_EMPHASIS), copy, previous];
}

function anchor(href: string, inner: string): string {
  const address = safeLink(href);
  return address === undefined ? inner : `<a href="${escapeHtml(address)}">${inner}</a>`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (found) => `&#${found.charCodeAt(0)};`);
}
