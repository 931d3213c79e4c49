/**
 * A text that grows, cut into its blocks. What can change no more is read once: of a long answer
 * only the end is read again for each frame, and only its last blocks are drawn again.
 */
import type { Token } from "marked";
import type { MarkdownReader } from "./markdown.ts";

type Piece =
  | { readonly type: "html"; readonly html: string }
  | { readonly type: "code"; readonly language: string; readonly code: string };

export interface Pieces {
  /** What was read. */
  readonly text: string;
  readonly all: readonly Piece[];
  /** Of the text, and of the pieces, what is done. */
  readonly doneLength: number;
  readonly doneCount: number;
}

/**
 * The blocks before the last two: a block that another follows is closed, and the last may still
 * join the one before.
 */
const OPEN_BLOCKS = 2;

export const noPieces: Pieces = { text: "", all: [], doneLength: 0, doneCount: 0 };

export function readMore(before: Pieces, given: string, reader: MarkdownReader): Pieces {
  const text = given.replaceAll(/\r\n?/g, "\n"); // as the reader counts them
  if (text === before.text) return before;
  const start = text.startsWith(before.text.slice(0, before.doneLength)) ? before : noPieces;
  const tokens = tokensOf(text.slice(start.doneLength), reader);
  const blocks = tokens.filter(({ type }) => type !== "space" && type !== "def");
  const pieces = blocks.map((token) => toPiece(token, reader));
  const all = [...start.all.slice(0, start.doneCount), ...pieces];
  const firstOpen = blocks.at(-OPEN_BLOCKS);
  // A definition of a link holds for what follows, too: from there on nothing is put aside.
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

/** All at once, when the text is whole: only now a link may be defined behind its use. */
export function readAll(text: string, reader: MarkdownReader): Pieces {
  const blocks = tokensOf(text, reader).filter(({ type }) => type !== "space" && type !== "def");
  const all = blocks.map((token) => toPiece(token, reader));
  return { text, all, doneLength: 0, doneCount: 0 };
}

/** A line that begins so many quotes and lists, one inside of the other. */
const tooDeep = /^(?:[ \t]*(?:>|(?:[+*-]|\d{1,9}[.)])[ \t])){200}/m;

/**
 * Blocks inside of blocks, hundreds deep, are too much for the reader: such a text is shown as it
 * was written.
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
