/**
 * Splits a growing text into blocks. Finished blocks are parsed once; for each frame only the end
 * of a long answer is parsed and drawn again.
 */
import type { Token } from "marked";
import type { MarkdownReader } from "./markdown.ts";

type Piece =
  | { readonly type: "html"; readonly html: string }
  | { readonly type: "code"; readonly language: string; readonly code: string };

export interface Pieces {
  /** The text that was parsed. */
  readonly text: string;
  readonly all: readonly Piece[];
  /** Length of the finished text, and number of finished pieces. */
  readonly doneLength: number;
  readonly doneCount: number;
}

/**
 * Blocks at the end that may still change: a following block closes a block, but the last one may
 * still join the one before it.
 */
const OPEN_BLOCKS = 2;

export const noPieces: Pieces = { text: "", all: [], doneLength: 0, doneCount: 0 };

export function readMore(before: Pieces, given: string, reader: MarkdownReader): Pieces {
  const text = given.replaceAll(/\r\n?/g, "\n"); // the parser does the same
  if (text === before.text) return before;
  const start = text.startsWith(before.text.slice(0, before.doneLength)) ? before : noPieces;
  const tokens = tokensOf(text.slice(start.doneLength), reader);
  const blocks = tokens.filter(({ type }) => type !== "space" && type !== "def");
  const pieces = blocks.map((token) => toPiece(token, reader));
  const all = [...start.all.slice(0, start.doneCount), ...pieces];
  const firstOpen = blocks.at(-OPEN_BLOCKS);
  // A link definition also affects later blocks, so nothing after it is finished.
  if (
    blocks.length <= OPEN_BLOCKS ||
    firstOpen === undefined ||
    tokens.some(({ type }) => type === "def")
  )
    return { text, all, doneLength: start.doneLength, doneCount: start.doneCount };
  const done = tokens.slice(0, tokens.indexOf(firstOpen));
  const length = done.reduce((sum, { raw }) => sum + raw.length, 0);
  return {
    text,
    all,
    doneLength: start.doneLength + length,
    doneCount: start.doneCount + blocks.length - OPEN_BLOCKS,
  };
}

/** Parses a complete text at once, so that links can be defined after their use. */
export function readAll(text: string, reader: MarkdownReader): Pieces {
  const blocks = tokensOf(text, reader).filter(({ type }) => type !== "space" && type !== "def");
  const all = blocks.map((token) => toPiece(token, reader));
  return { text, all, doneLength: 0, doneCount: 0 };
}

/** Matches a line with very deeply nested quotes and lists. */
const tooDeep = /^(?:[ \t]*(?:>|(?:[+*-]|\d{1,9}[.)])[ \t])){200}/m;

/**
 * Parses blocks. Text nested hundreds of levels deep is shown as written, because the parser cannot
 * handle it.
 */
function tokensOf(text: string, reader: MarkdownReader): readonly Token[] {
  try {
    return tooDeep.test(text) ? [asWritten(text)] : reader.tokens(text);
  } catch {
    return [asWritten(text)];
  }
}

function asWritten(raw: string): Token {
  return { type: "code", raw, text: raw };
}

function toPiece(token: Token, reader: MarkdownReader): Piece {
  if (token.type !== "code") {
    try {
      return { type: "html", html: reader.toHtml(token) };
    } catch {
      return toPiece(asWritten(token.raw), reader);
    }
  }
  const { text, lang } = token as { text: string; lang?: string };
  const [language = ""] = (lang ?? "").trim().split(/\s/);
  return { type: "code", language: /^[\w+#.-]{1,30}$/.test(language) ? language : "", code: text };
}
