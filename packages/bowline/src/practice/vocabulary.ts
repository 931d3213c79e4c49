/** Synonyms and fragments shared by several wordings, in the notation of `toPattern`. */

export const SHOW: string =
  "(show|read out|read|print out|print|display|cat|open up|open|view|output|dump|type out|type|write out|give|get|see|look at|look into|let me see|let me read)";
export const IN: string = "(in|inside|within|under|from|of|on)";
/** The extension of each kind of file. */
const SORTS: Readonly<Record<string, string>> = {
  markdown: ".md",
  typescript: ".ts",
  javascript: ".js",
  python: ".py",
  rust: ".rs",
  ruby: ".rb",
  text: ".txt",
  plaintext: ".txt",
  "plain text": ".txt",
  yaml: ".y*ml",
};
/** Extensions that also name a kind without the full stop: "js files". */
const EXTENSIONS =
  "js|jsx|ts|tsx|mjs|cjs|mts|cts|md|mdx|txt|json|jsonl|csv|py|go|rs|rb|java|php|c|h|cpp|cs|sh|sql|html|htm|css|xml|yml|toml|ini|log|svg|png|jpg|jpeg|gif|pdf";
export const FILES: string = String.raw`[<sort:\*?(?:\.\w+)+|${Object.keys(SORTS).join("|")}|${EXTENSIONS}>] files?`;
export const FOLDERS: string = "(folders?|subfolders?|directories|subdirectories|directory)";
/** One word without spaces, such as each of the two names of a copy. */
export const WORD: string = String.raw`\S+`;
export const FILE_NAME: string = String.raw`\S*\.\w+`;
const QUOTED = String.raw`[\uD800-\uDFFF]+`;
/** A file: a name with an extension or in quotes, the readme, or "it". */
export const FILE: string = `(?:the |my )?(?:file )?(?:${FILE_NAME}|${QUOTED}|readme|it)`;
export const ORDINAL: string = "second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth";
export const NUMBER: string = String.raw`\d+|one|two|three|four|five|six|seven|eight|nine|ten`;
export const COUNT: string =
  "(how many|count up|count|(?:(?:count|what is|show|print|give|find|get|i need|i want) )?(?:total )?(?:number|count|amount) of)";
export const CHANGED: string = "(changed|modified|edited|updated|touched|saved|written)";

const ORDINALS = "zeroth first second third fourth fifth sixth seventh eighth ninth tenth".split(
  " ",
);
const NUMBERS = "zero one two three four five six seven eight nine ten".split(" ");

export function toNumber(word: string): number {
  const known = [NUMBERS, ORDINALS].map((words) => words.indexOf(word.toLowerCase()));
  return known.find((index) => index >= 0) ?? Number(word);
}

/** Returns the extension of a kind of file, such as .md for markdown files. */
export function toSort(word: string | undefined): string | undefined {
  const sort = word?.toLowerCase();
  if (sort === undefined || /^[.*]/.test(sort)) return word;
  return SORTS[sort] ?? `.${sort}`;
}
