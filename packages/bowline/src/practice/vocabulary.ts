/** Synonyms and fragments shared by several wordings, in the notation of `toPattern`. */

export const SHOW: string = "(show|read|print|display|cat|open|view|output|give|see|let me see)";
export const IN: string = "(in|inside|within|under|from|of)";
export const FILES: string = String.raw`[<sort:\*?(?:\.\w+)+|markdown|typescript|javascript|python|json|text>] files?`;
export const FOLDERS: string = "(folders?|subfolders?|directories|subdirectories|directory)";
/** Two names given at once, as for a copy. */
export const WORD: string = String.raw`\S+`;
export const FILE_NAME: string = String.raw`\S*\.\w+`;
export const ORDINAL: string = "second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth";
export const NUMBER: string = String.raw`\d+|one|two|three|four|five|six|seven|eight|nine|ten`;
export const COUNT: string =
  "(how many|count|count number of|(what is|show|print|give|find|get|i need) [total] number of)";
export const CHANGED: string = "(changed|modified|edited|updated|touched|saved|written)";

const ORDINALS = "zeroth first second third fourth fifth sixth seventh eighth ninth tenth".split(
  " ",
);
const NUMBERS = "zero one two three four five six seven eight nine ten".split(" ");
const SORTS: Readonly<Record<string, string>> = {
  markdown: ".md",
  typescript: ".ts",
  javascript: ".js",
  python: ".py",
  json: ".json",
  text: ".txt",
};

export function toNumber(word: string): number {
  const known = [NUMBERS, ORDINALS].map((words) => words.indexOf(word.toLowerCase()));
  return known.find((index) => index >= 0) ?? Number(word);
}

/** Returns the extension of a kind of file, such as .md for markdown files. */
export function toSort(word: string | undefined): string | undefined {
  return word === undefined ? undefined : (SORTS[word.toLowerCase()] ?? word);
}
