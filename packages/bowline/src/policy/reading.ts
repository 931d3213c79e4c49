/** Which files a command reads or changes without a path among its words. */
import { nameOfProgram, programOf } from "./command-words.ts";

/** Programs that search the working directory if no path is named. */
const searchers: ReadonlySet<string> = new Set("rg ag ack ugrep ug rgrep".split(" "));
const greps: ReadonlySet<string> = new Set("grep egrep fgrep zgrep".split(" "));

/** Git's commands that print content which no word of the command names. */
const gitContent: ReadonlySet<string> = new Set(
  (
    "grep diff show archive format-patch fast-export stash whatchanged diff-tree diff-files diff-index cat-file bundle range-diff " +
    "show-branch rebase am apply checkout"
  ).split(" "),
);

const RECURSIVE = /^-[^-]*[rR]|^--(?:r|de)|^-\w*d|recurse/;
const PATCH =
  /^-(?:p|u|U|c$|m$|S|G|L)|^--(?:patch|cc|unified|diff|remerge|word|color-w|full|ext|binary)/;

/** Options of grep and rg without a value. */
const FLAGS = /^-[rRniHhlLcowEFPsvxq]+$/;

/** Programs that change no file whose path is an operand. */
const readers: ReadonlySet<string> = new Set(
  (
    "cat head tail wc ls stat file grep egrep fgrep rg ag diff cmp comm cut sort od strings jq test [ echo printf tree du find git " +
    "basename dirname realpath readlink md5sum sha1sum sha256sum sha512sum cksum tac nl cd which"
  ).split(" "),
);

/** Returns true if a command may print the content of any file below the working directory. */
export function readsFolder(words: readonly string[]): boolean {
  const name = nameOfProgram(programOf(words[0] ?? ""));
  const others = words.slice(1);
  if (searchers.has(name)) return !namesPath(others);
  if (greps.has(name)) return others.some((word) => RECURSIVE.test(word)) && !namesPath(others);
  if (name !== "git") return false;
  return others.some((word) => gitContent.has(word) || PATCH.test(word));
}

/** Returns true if a pattern and a path are at the end, after options that take no value. */
function namesPath(words: readonly string[]): boolean {
  const last = words.findLastIndex((word) => word.startsWith("-"));
  const isFlag = words.slice(0, last + 1).every((word) => FLAGS.test(word));
  return isFlag && words.length - last - 1 >= 2;
}

/** Returns true if a command changes no file that one of its words names. */
export function onlyReads(words: readonly string[]): boolean {
  return readers.has(programOf(words[0] ?? ""));
}
