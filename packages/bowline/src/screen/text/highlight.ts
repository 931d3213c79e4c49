/**
 * Colours code line by line with the terminal's own 16 colours. The library and each language are
 * loaded when they are first needed, so that the first frame does not wait for them.
 */
import { createRequire } from "node:module";
import type { HLJSApi, LanguageFn } from "highlight.js";
import type { Colours } from "../colours.ts";
import { languageNamed } from "./languages.ts";
import { unpainted, type Paint, type Span } from "./span.ts";

/** Longer lines are not coloured. */
const MAX_LINE = 1000;
/** Lines of an open comment or string that are read again with each of its lines, in characters. */
const MAX_CONTEXT = 500;

type Colour = "red" | "green" | "yellow" | "blue" | "magenta" | "cyan" | "dim" | "bold" | "italic";

const colourOf: Readonly<Record<string, Colour>> = {
  keyword: "magenta",
  literal: "cyan",
  number: "cyan",
  "template-variable": "cyan",
  variable: "cyan",
  string: "green",
  char: "green",
  regexp: "green",
  addition: "green",
  comment: "dim",
  quote: "dim",
  doctag: "dim",
  title: "blue",
  section: "bold",
  name: "blue",
  tag: "blue",
  type: "yellow",
  built_in: "yellow",
  attr: "yellow",
  attribute: "yellow",
  symbol: "yellow",
  bullet: "yellow",
  meta: "yellow",
  property: "blue",
  "selector-class": "blue",
  "selector-id": "blue",
  "selector-tag": "magenta",
  deletion: "red",
  strong: "bold",
  emphasis: "italic",
};

export class Highlighter {
  readonly #colours: Colours;
  readonly #require: (name: string) => unknown;
  #library: HLJSApi | undefined;
  readonly #languages = new Map<string, boolean>();

  constructor(colours: Colours, load: (name: string) => unknown = createRequire(import.meta.url)) {
    this.#colours = colours;
    this.#require = load;
  }

  /** Returns undefined for a language that is not known, and if colours are off. */
  start(
    language: string,
    onWork: (characters: number) => void = () => undefined,
  ): LineHighlighter | undefined {
    const name = languageNamed(language);
    if (!this.#colours.isOn || name === undefined) return undefined;
    const library = this.#load(name);
    if (library === undefined) return undefined;
    return new LineHighlighter({ library, name, colours: this.#colours, onWork });
  }

  #load(name: string): HLJSApi | undefined {
    try {
      this.#library ??= (this.#require("highlight.js/lib/core") as HLJSApi).newInstance();
      if (!this.#languages.has(name)) {
        const language = this.#require(`highlight.js/lib/languages/${name}`) as LanguageFn;
        this.#library.registerLanguage(name, language);
        this.#languages.set(name, true);
      }
      return this.#library;
    } catch {
      // An installation without the library shows code without colours.
      return undefined;
    }
  }
}

interface LineHighlighterOptions {
  readonly library: HLJSApi;
  readonly name: string;
  readonly colours: Colours;
  readonly onWork: (characters: number) => void;
}

/** Colours the lines of one block, in order. */
export class LineHighlighter {
  readonly #options: LineHighlighterOptions;
  /** The lines since the last one that ended outside of comments, strings and the like. */
  #context: string[] = [];
  #contextLength = 0;

  constructor(options: LineHighlighterOptions) {
    this.#options = options;
  }

  /** Never throws. */
  line(text: string): Span[] {
    if (text.length > MAX_LINE) {
      this.#setContext([]);
      return [{ text, paint: unpainted }];
    }
    try {
      return this.#line(text);
    } catch {
      this.#setContext([]);
      return [{ text, paint: unpainted }];
    }
  }

  clone(): LineHighlighter {
    const copy = new LineHighlighter(this.#options);
    copy.#setContext([...this.#context]);
    return copy;
  }

  #line(text: string): Span[] {
    const { library, name, onWork } = this.#options;
    const code = [...this.#context, text, ""].join("\n");
    onWork(code.length);
    const { value, _top: mode } = library.highlight(code, { language: name, ignoreIllegals: true });
    // The mode at the end has a parent inside of comments, strings and the like.
    if (!isInside(mode)) this.#setContext([]);
    else
      this.#setContext(shortened([...this.#context, text], this.#contextLength + text.length + 1));
    return this.#spans(lastLine(value));
  }

  #setContext(lines: string[]): void {
    this.#context = lines;
    this.#contextLength = lines.reduce((sum, line) => sum + line.length + 1, 0);
  }

  #spans(html: string): Span[] {
    const spans: Span[] = [];
    const open: Paint[] = [];
    for (const [tag, classes, text] of html.matchAll(/<span class="([^"]*)">|<\/span>|([^<]+)/g)) {
      if (text !== undefined) spans.push({ text: decode(text), paint: open.at(-1) ?? unpainted });
      else if (classes === undefined) open.pop();
      else open.push(this.#paint(classes) ?? open.at(-1) ?? unpainted);
      if (tag === "") break;
    }
    return spans;
  }

  #paint(classes: string): Paint | undefined {
    const [scope = ""] = classes.replace("hljs-", "").split(" ");
    const colour = Object.hasOwn(colourOf, scope) ? colourOf[scope] : undefined;
    return colour === undefined ? undefined : this.#options.colours[colour];
  }
}

function isInside(mode: object | undefined): boolean {
  return mode !== undefined && "parent" in mode && mode.parent !== undefined;
}

/** Keeps the first lines, which opened the comment or string, and the last ones. */
function shortened(lines: string[], length: number): string[] {
  if (length <= MAX_CONTEXT) return lines;
  const kept = [...lines];
  let rest = length;
  while (rest > MAX_CONTEXT && kept.length > 1) {
    const [removed = ""] = kept.splice(Math.ceil(kept.length / 4), 1);
    rest -= removed.length + 1;
  }
  return kept;
}

/** Returns the last line of highlighted code, with the spans that were open before it. */
function lastLine(html: string): string {
  const end = html.lastIndexOf("\n");
  const start = html.lastIndexOf("\n", end - 1) + 1;
  const open: string[] = [];
  for (const [tag] of html.slice(0, start).matchAll(/<[^>]+>/g)) {
    if (tag === "</span>") open.pop();
    else open.push(tag);
  }
  return open.join("") + html.slice(start, end);
}

function decode(text: string): string {
  return text
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#x27;", "'")
    .replaceAll("&amp;", "&");
}
