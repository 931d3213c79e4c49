/** Reads the inline Markdown of one paragraph, cell or heading as spans. */
import { Lexer, Tokenizer, getDefaults, type Token } from "marked";
import { printable } from "../../terminal.ts";
import type { Colours } from "../colours.ts";
import { decodeEntities } from "./entities.ts";
import { isSameAddress, linkTarget, looksLikeAnother } from "./link-target.ts";
import { unpainted, type Paint, type Span } from "./span.ts";

export type Mark = "bold" | "italic" | "strike" | "dim" | "cyan" | "underline";

export interface InlineOptions {
  readonly colours: Colours;
  readonly linkStyle: "osc8" | "text";
  /** Is told the number of characters of each text, for tests of the cost. */
  readonly onWork: (characters: number) => void;
}

/** Longer emphasis is not recognised, since its cost is quadratic. */
const MAX_EMPHASIS = 1000;
/** Characters before the current position that emphasis depends on. */
const BEFORE = 100;
const LINE_BREAK = /^<br\s*\/?>$/i;

interface Place {
  readonly marks: readonly Mark[];
  readonly url: string | undefined;
}

export class InlineReader {
  readonly #options: InlineOptions;
  readonly #lexer: Lexer;
  readonly #paints = new Map<string, Paint>();
  readonly #hasHyperlinks: boolean;

  constructor(options: InlineOptions) {
    this.#options = options;
    this.#lexer = new Lexer({ ...getDefaults(), gfm: true, tokenizer: new NearTokenizer() });
    const { colours, linkStyle } = options;
    // Where the terminal is not known to have links, `link` would add the address to each row.
    this.#hasHyperlinks =
      linkStyle === "osc8" && colours.link("a", "https://b").startsWith("\u001b");
  }

  /** Counts the cost of a step outside of this class. */
  countWork(characters: number): void {
    this.#options.onWork(characters);
  }

  /** `marks` apply to the whole text. A line feed in a span breaks the row. */
  read(text: string, marks: readonly Mark[] = []): Span[] {
    this.#options.onWork(text.length);
    const out: Span[] = [];
    const place: Place = { marks, url: undefined };
    try {
      for (const token of this.#lexer.inlineTokens(text, [])) this.#token(token, place, out);
    } catch {
      // Nested too deeply for the parser.
      return [this.#span(text.replaceAll("\n", " "), place)];
    }
    return out;
  }

  #token(token: Token, place: Place, out: Span[]): void {
    const within = (mark: Mark): void => {
      const inner = { ...place, marks: withMark(place.marks, mark) };
      for (const child of childrenOf(token)) this.#token(child, inner, out);
    };
    switch (token.type) {
      case "strong":
        return within("bold");
      case "em":
        return within("italic");
      case "del":
        // Not all terminals strike through.
        out.push(this.#span("~~", place));
        within("strike");
        return void out.push(this.#span("~~", place));
      case "codespan":
        return void out.push(this.#code(textOf(token), place));
      case "br":
        return void out.push({ text: "\n", paint: unpainted });
      case "html": {
        const isBreak = LINE_BREAK.test(token.raw);
        return void out.push(
          isBreak ? { text: "\n", paint: unpainted } : this.#span(token.raw, place),
        );
      }
      case "link":
        return this.#link(token, place, out);
      case "image":
        return this.#image(token, place, out);
      default:
        return void out.push(this.#span(decodeEntities(textOf(token)), place));
    }
  }

  /** The backquotes stay, so that code can be told from prose without colours. */
  #code(text: string, place: Place): Span {
    const fence = text.includes("`") ? "``" : "`";
    return this.#span(`${fence}${text}${fence}`, {
      ...place,
      marks: withMark(place.marks, "cyan"),
    });
  }

  #link(token: Token, place: Place, out: Span[]): void {
    const href = decodeEntities(hrefOf(token));
    const url = linkTarget(href);
    const text = decodeEntities(textOf(token));
    const inner: Place =
      url === undefined ? place : { marks: withMark(place.marks, "underline"), url };
    for (const child of childrenOf(token)) this.#token(child, inner, out);
    const shown = shownAddress(href, url);
    const isHidden = this.#hasHyperlinks && url !== undefined && !looksLikeAnother(text, url);
    if (!isHidden && !isSameAddress(text, shown)) out.push(this.#span(` (${shown})`, place));
  }

  #image(token: Token, place: Place, out: Span[]): void {
    const href = decodeEntities(hrefOf(token));
    const url = linkTarget(href);
    const alt = decodeEntities(textOf(token));
    out.push(this.#span(`[image${alt === "" ? "" : `: ${alt}`}] (`, place));
    out.push(this.#span(shownAddress(href, url), { ...place, url }), this.#span(")", place));
  }

  /** Entities can name control characters, so the text is made printable once more. */
  #span(text: string, { marks, url }: Place): Span {
    return { text: printable(text).replaceAll("\n", " "), paint: this.#paint(marks, url) };
  }

  #paint(marks: readonly Mark[], url: string | undefined): Paint {
    const { colours } = this.#options;
    const address = this.#hasHyperlinks ? url : undefined;
    if (!colours.isOn || (marks.length === 0 && address === undefined)) return unpainted;
    const key = `${marks.join()} ${address ?? ""}`;
    const known = this.#paints.get(key);
    if (known !== undefined) return known;
    const paint: Paint = (text) => {
      const styled = marks.reduce((inner, mark) => colours[mark](inner), text);
      return address === undefined ? styled : colours.link(styled, address);
    };
    // Links are mostly used once: only the few paints without one are reused.
    if (address === undefined) this.#paints.set(key, paint);
    return paint;
  }
}

/** Bounds the text that emphasis looks at. */
class NearTokenizer extends Tokenizer {
  override emStrong(...from: From): ReturnType<Tokenizer["emStrong"]> {
    return super.emStrong(...near(from));
  }

  override del(...from: From): ReturnType<Tokenizer["del"]> {
    return super.del(...near(from));
  }
}

/** The text from here on, a copy of the whole text with links masked, the character before. */
type From = [src: string, masked: string, previous?: string];

function near([src, masked, previous = ""]: From): From {
  const at = masked.length - src.length;
  const copy = masked.slice(Math.max(0, at - BEFORE), at + MAX_EMPHASIS);
  return [src.slice(0, MAX_EMPHASIS), copy, previous];
}

function withMark(marks: readonly Mark[], mark: Mark): readonly Mark[] {
  return marks.includes(mark) ? marks : [...marks, mark];
}

/** Web addresses are shown as browsers read them if another script could disguise the host. */
function shownAddress(href: string, url: string | undefined): string {
  return url !== undefined && !/^[\x21-\x7e]*$/.test(href) ? url : href;
}

function childrenOf(token: Token): readonly Token[] {
  return (
    ("tokens" in token ? token.tokens : undefined) ?? [
      { type: "text", raw: token.raw, text: textOf(token) },
    ]
  );
}

function textOf(token: Token): string {
  return "text" in token && typeof token.text === "string" ? token.text : token.raw;
}

function hrefOf(token: Token): string {
  return "href" in token && typeof token.href === "string" ? token.href : "";
}
