/** Steps that search for a text or a declaration. */
import { isQuoted, restore, unquote } from "./phrase.ts";
import { inspect, Setback } from "./step.ts";
import type { Call, Seen, Step } from "./step.ts";
import { bullets, enumerate, plural, refuse } from "./wording.ts";

/** Words that need judgement. A search for the bare word would answer another question. */
const JUDGED =
  /^(?:bugs?|errors?|mistakes?|typos?|problems?|issues?|duplicates?|functions?|class(?:es)?|methods?|variables?|comments?|tests?|dependenc(?:y|ies)|imports?|secrets?)$/i;
/** Words that make it unclear where the text ends and the place begins. */
const PLACED = /\s(?:in|inside|within|under|from|of|on|and|or|not|except)\s/i;
const ARTICLES = /^(?:(?:the|a|an|all|any|every|word|words|text|string|term|of|occurrences?)\s+)+/i;
const DECLARES =
  "function\\*?|class|interface|type|enum|const|let|var|def|fn|func|struct|trait|module|namespace";

interface SearchOptions {
  /** The person called the words a text, so several words need no quotes. */
  readonly isLiteral?: boolean;
  /** The files to search: an extension such as .ts, or a glob. Default: all. */
  readonly sort?: string | undefined;
}

/**
 * Finds where and how often a text occurs. The text is in quotes, is one word, or was called a
 * text. Without quotes, a text in lower case also matches capital letters.
 */
export function searchText(
  words: string,
  refs: readonly string[],
  { isLiteral = false, sort }: SearchOptions = {},
): Step {
  const bare = isLiteral ? words : words.replace(ARTICLES, "");
  const isPlain = isLiteral ? !PLACED.test(bare) : !/\s/.test(bare) && !JUDGED.test(bare);
  const mark = toMark(bare);
  if (!isQuoted(bare) && !isPlain && mark === undefined) throw askForQuotes(bare);
  const pattern = mark ?? unquote(bare);
  const ignoreCase = mark === undefined && !isQuoted(bare) && pattern === pattern.toLowerCase();
  const names = sort?.startsWith(".") === true ? `*${sort}` : sort;
  const fold = (text: string): string => (ignoreCase ? text.toLowerCase() : text);
  const toCall = (path: string): Call => ({
    name: "grep",
    arguments: {
      pattern,
      literal: true,
      ...(ignoreCase && { ignoreCase }),
      ...(names !== undefined && { glob: names }),
      path,
      limit: 10_000,
    },
  });
  return inspect(refs, toCall, (seen) => {
    const hits = toHits(seen);
    const kind = names === undefined ? "" : `\`${names}\` files in `;
    const where = `in ${kind}${enumerate(seen.map(({ path }) => path))}`;
    if (hits.length === 0)
      return {
        text: `\`${pattern}\` does not occur ${where}${ignoreCase ? "" : ", spelled just so"}.`,
        value: "0",
      };
    const paths = [...new Set(hits.map(({ path }) => path))];
    const times = hits.reduce(
      (sum, { body }) => sum + Math.max(1, fold(body).split(pattern).length - 1),
      0,
    );
    const least = seen.some(({ text }) => /^\[\d+ of .*\]$/m.test(text)) ? "at least " : "";
    const places = `on ${plural(hits.length, "line")} of ${plural(paths.length, "file")}`;
    const isMixed = hits.some(({ body }) => !body.includes(pattern));
    const cases = isMixed ? ", capital letters or not" : "";
    const text = `\`${pattern}\` occurs ${least}${plural(times, "time")} ${where}${cases}: ${places}.\n\n${show(hits)}`;
    return { text, paths, value: `${times}` };
  });
}

/** Maps "todos" to the mark TODO. */
function toMark(word: string): string | undefined {
  return /^(todo|fixme|hack|xxx)s?(?: (?:comments?|markers?|marks?|items?|notes?))?$/i
    .exec(word)?.[1]
    ?.toUpperCase();
}

/**
 * Searches for a text in quotes or with capital letters, or for a mark such as TODO. Refuses
 * another word, because it may be a text or a part of a file's name.
 */
export function findSomething(word: string, refs: readonly string[]): Step {
  const isText = isQuoted(word) || /[A-Z]/.test(word) || toMark(word) !== undefined;
  if (isText || JUDGED.test(word)) return searchText(word, refs);
  throw new Setback(
    refuse(
      `“${word}” may be a text or a part of a file's name.`,
      `Say: search for ${word}, or: find *${word}*`,
    ),
  );
}

function askForQuotes(words: string): Setback {
  const text = restore(words);
  return new Setback(
    refuse(
      "I search for a text, and judge nothing.",
      `If that is the text, put it in quotes: search for "${text}"`,
    ),
  );
}

/** Finds lines that declare a name with a keyword such as function or class. */
export function findDefinition(name: string, refs: readonly string[]): Step {
  const pattern = `\\b(?:${DECLARES})\\s+${name.replaceAll("$", String.raw`\$`)}(?![\\w$])`;
  const toCall = (path: string): Call => ({
    name: "grep",
    arguments: { pattern, path, limit: 10_000 },
  });
  return inspect(refs, toCall, (seen) => {
    const hits = toHits(seen);
    const none = `No line in ${enumerate(seen.map(({ path }) => path))} declares \`${name}\` with a word such as function, class or const. To see where it is mentioned: search for "${name}"`;
    if (hits.length === 0) throw new Setback(none);
    const paths = [...new Set(hits.map(({ path }) => path))];
    const text = `\`${name}\` is declared on ${plural(hits.length, "line")}:\n\n${show(hits)}`;
    return { text, paths, value: paths.join("\n") };
  });
}

interface Hit {
  readonly path: string;
  readonly line: string;
  readonly body: string;
}

function toHits(seen: readonly Seen[]): Hit[] {
  const said = seen.map(({ text }) => text).join("\n");
  return [...said.matchAll(/^(.+?):(\d+):(.*)$/gm)].map(([, path = "", line = "", body = ""]) => ({
    path,
    line,
    body,
  }));
}

function show(hits: readonly Hit[]): string {
  return bullets(
    hits.map(({ path, line, body }) => `${path}:${line}: ${body.trim().slice(0, 200)}`),
  );
}
