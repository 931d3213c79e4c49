/**
 * A model's markdown as HTML text, which the sanitizer has still to look through. HTML of the
 * model's own is shown as it was written, but for a few tags of words. Images become links: nothing
 * is loaded.
 */
import { Lexer, Marked, Tokenizer, type Token, type TokensList } from "marked";
import { safeLink } from "./link.ts";

/** Answers stand below headings of the page. */
const HEADING_SHIFT = 2;

/**
 * What is looked for to the end of a paragraph, and anew from each character, takes as long as its
 * length squared. In a longer one nothing is looked for; and what is emphasized is not longer than
 * this.
 */
const MAX_PARAGRAPH = 10_000;
const MAX_EMPHASIS = 1000;
/** How much of what stands before it emphasis depends on. */
const BEFORE = 100;

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
 * The text from here on, a copy of all of it in which links are blotted out, and what stands before
 * it.
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
