/** Steps about the content of files: a read of each path, and a summary of the results. */
import { look, Setback } from "./step.ts";
import type { Answer, Call, Play, Seen, Step, Subject } from "./step.ts";
import { enumerate, fence, plural } from "./wording.ts";

/** A range of lines, from 1, or a number of last lines. */
export interface Range {
  readonly from?: number;
  readonly to?: number;
  readonly last?: number;
}

export interface Page {
  readonly path: string;
  /** The whole text, if the lines cover all of it. */
  readonly whole: string | undefined;
  readonly lines: readonly string[];
  /** The number of the first line in the page. */
  readonly first: number;
  /** The number of lines in the file. */
  readonly total: number;
}

export function readFiles(
  refs: readonly string[],
  range: Range,
  summarize: (pages: Page[]) => Answer,
  readme = false,
): Step {
  return function* (subject): Play<Answer> {
    const { last } = range;
    // For the last lines, first read one line to get the number of lines.
    let pages = yield* readPages(
      subject,
      refs,
      () => (last === undefined ? range : { to: 1 }),
      readme,
    );
    const paths = pages.map(({ path }) => path);
    const starts = new Map(
      pages.map(({ path, total }) => [path, Math.max(1, total - (last ?? 0) + 1)]),
    );
    if (last !== undefined)
      pages = yield* readPages(subject, paths, (path) => ({ from: starts.get(path) ?? 1 }));
    return { paths, ...summarize(pages) };
  };
}

export function* readPages(
  subject: Subject,
  refs: readonly string[],
  toRange: (path: string) => Range,
  readme = false,
): Play<Page[]> {
  const toCall = (path: string): Call => {
    const { from = 1, to } = toRange(path);
    const limit = to === undefined ? {} : { limit: to - from + 1 };
    return { name: "read", arguments: { path, ...(from > 1 ? { offset: from } : {}), ...limit } };
  };
  const seen = yield* look(subject, refs, toCall, { readme });
  return seen.map(toPage);
}

/**
 * Parses the output of a read. Throws {@link Setback} if the file changed, is not text or is too
 * large.
 */
export function toPage({ path, call, text: said }: Seen): Page {
  if (/\[the file was changed by something else[^\n]*\]$/.test(said))
    throw new Setback(`${path} was changed while I read it. Please ask again.`);
  const [notice = "", total] = /(?<=\n)\[lines \d+-\d+ of (\d+|more)\b.*\]$/.exec(said) ?? [];
  // An image has no text, and the lines of a very large file are not counted.
  if (said === "" || total === "more")
    throw new Setback(`${path} is no text, or too large for me.`);
  const text = said === "[empty file]" ? "" : said.slice(0, said.length - notice.length);
  const lines = text === "" ? [] : text.replace(/\r?\n$/, "").split(/\r?\n/);
  const first = Number(call.arguments["offset"] ?? 1);
  const whole = first === 1 && notice === "" ? text : undefined;
  return { path, whole, lines, first, total: Number(total ?? first - 1 + lines.length) };
}

export function showLines(pages: Page[]): Answer {
  const texts = pages.map(({ path, lines, first, total }) => {
    const label = `${path}, lines ${first} to ${first + lines.length - 1} of ${total}`;
    return total === 0 ? `${path} is empty.` : `${label}:\n\n${fence(lines.join("\n"))}`;
  });
  return { text: texts.join("\n\n"), value: pages.length === 1 ? pages[0]?.whole : undefined };
}

/** Counts lines, words or characters of files. The tool counts the lines. */
export function countText(what: string, refs: readonly string[]): Step {
  const noun = what.replace(/s$/, "");
  return readFiles(refs, noun === "line" ? { to: 1 } : {}, (pages) => {
    const counts = pages.map(({ path, whole, total }) => {
      if (noun === "line") return { path, count: total };
      if (whole === undefined)
        throw new Setback(`${path} is too large for me to count its ${what}.`);
      const units = noun === "word" ? (whole.match(/\S+/g) ?? []) : (whole.match(/[^]/gu) ?? []);
      return { path, count: units.length };
    });
    const sum = counts.reduce((all, { count }) => all + count, 0);
    const text = enumerate(counts.map(({ path, count }) => `${path} has ${plural(count, noun)}`));
    return { text: `${text}${pages.length > 1 ? `, ${sum} together` : ""}.`, value: `${sum}` };
  });
}

const DESCRIPTION = /"description"\s*:\s*"((?:[^"\\]|\\.)*)"/;
const COMMENTS = /^(?:\s*(?:\/\*[\s\S]*?\*\/|(?:\/\/|#).*|"""[\s\S]*?"""))+/;
/** Directives to the compiler, which do not explain the file. */
const DIRECTIVE = /^\/\/\/ *<.*$/gm;
const MARKS = /^[^\S\n]*(?:\/\*+|\*+(?!\/)|\/\/+|#!.*|#+)|\*\/|"""/gm;

/** Explains files in their own words: a description, a headline, or the comment at the top. */
export function explain(pages: Page[]): Answer {
  const texts = pages.map(({ path, lines }) => {
    const text = lines.join("\n").slice(0, 20_000).trim();
    if (text === "") return `${path} is empty.`;
    const said = toParagraphs(path, text).join(": ");
    const line = (said || text).replaceAll(/\s+/g, " ").trim();
    const lead = said === "" ? "does not say what it is for. It begins with" : "says of itself";
    return `${path} ${lead}: ${line.slice(0, 300)}${line.length > 300 ? " …" : ""}`;
  });
  return { text: texts.join("\n\n"), value: texts.join("\n") };
}

function toParagraphs(path: string, text: string): string[] {
  if (path.endsWith("package.json")) return [DESCRIPTION.exec(text)?.[1] ?? ""];
  const isProse = path.endsWith(".md") && text.startsWith("#");
  const head = isProse ? text : (COMMENTS.exec(text)?.[0] ?? "");
  const bare = head.replaceAll(DIRECTIVE, "").replaceAll(MARKS, "").trim();
  const paragraphs = bare.split(/\n\s*\n/);
  return paragraphs
    .filter((paragraph) => !/copyright|licen[cs]e|^\[?!\[/i.test(paragraph))
    .slice(0, isProse ? 2 : 1);
}
