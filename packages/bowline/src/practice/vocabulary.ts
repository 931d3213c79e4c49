/** The notation of wordings, and the words that several of them share. */

/** Words that change nothing: they may stand between any two words of a wording. */
const SMALL = "me|us|all|any|just|exactly|please";
const FILLER = [
  SMALL,
  "the|a|an|really|currently|now|right now|here|there|altogether|in total",
  "(?:in|of|inside|within) (?:here|(?:the|this|my|our) (?:current |working )?(?:folder|directory|project|repo|repository))",
].join("|");
const GAP = toGap(FILLER);

export const SHOW: string = "(show|read|print|display|cat|open|view|output|give|see|let me see)";
export const IN: string = "(in|inside|within|under|from|of)";
export const FILES: string = String.raw`[<sort:\*?(?:\.\w+)+|markdown|typescript|javascript|python|json|text>] files?`;
export const FOLDERS: string = "(folders?|subfolders?|directories|subdirectories|directory)";
/** Two names that are given in one go, as for a copy. */
export const WORD: string = String.raw`\S+`;
export const FILE_NAME: string = String.raw`\S*\.\w+`;
export const NUMBER: string = String.raw`\d+|one|two|three|four|five|six|seven|eight|nine|ten`;
export const CHANGED: string = "(changed|modified|edited|updated|touched|saved|written)";

const NUMBERS = "zero one two three four five six seven eight nine ten".split(" ");
const SORTS: Readonly<Record<string, string>> = {
  markdown: ".md",
  typescript: ".ts",
  javascript: ".js",
  python: ".py",
  json: ".json",
  text: ".txt",
};

/**
 * A wording as a regular expression for a phrase with a space before it: [a|b] may be left out,
 * (a|b) is one of both, <part> is as little text as will do, <part:a|b> one of both. An
 * article before a part without a pattern belongs to it, and any word before <part:.+>.
 */
export function toPattern(wording: string): RegExp {
  const source = ` ${wording}`
    .replaceAll(/<(\w+)(?::([^>]+))?>/g, (_, name: string, own = ".+?") => `(?<${name}>${own})`)
    .replaceAll(/ \[([^\]]+)\]/g, "(?: (?:$1))?")
    .replaceAll(/(what|which|where|who) is\b/g, "$1(?: is| are|['’]s)")
    .replaceAll(/ (?=(?:\(\?:)*\(\?<\w+>\.\+\?)/g, String.raw`${toGap(SMALL)}\s+`)
    .replaceAll(/ (?=(?:\(\?:)*\(\?<\w+>\.\+)/g, String.raw`\s+`)
    .replaceAll(" ", String.raw`${GAP}\s+`);
  return new RegExp(`^${source}${GAP}$`, "is");
}

function toGap(words: string): string {
  return String.raw`(?:\s+(?:${words.replaceAll(" ", String.raw`\s+`)})(?=\s|$))*`;
}

export function toNumber(word: string): number {
  const index = NUMBERS.indexOf(word.toLowerCase());
  return index < 0 ? Number(word) : index;
}

/** The extension that a sort of files has, such as .md of markdown files. */
export function toSort(word: string | undefined): string | undefined {
  return word === undefined ? undefined : (SORTS[word.toLowerCase()] ?? word);
}
