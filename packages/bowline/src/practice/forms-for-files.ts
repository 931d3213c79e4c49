/** Questions about names, sizes and times of files. */
import { newestFile } from "./commands.ts";
import type { Form } from "./form.ts";
import { compareSizes, count, list, survey } from "./files.ts";
import { toRefs, unquote } from "./phrase.ts";
import { rankFiles } from "./ranking.ts";
import { toLiteral } from "./step.ts";
import {
  CHANGED,
  COUNT,
  FILE_NAME,
  FILES,
  FOLDERS,
  IN,
  NUMBER,
  toNumber,
  toSort,
} from "./vocabulary.ts";

const WHERE = `[${IN} <place>]`;
/** For the end of wordings whose middle may also name a place. */
const WHERE_TOO = `[${IN} <within>]`;
const BIG = "<word:largest|biggest|smallest|heaviest|tiniest|longest|shortest>";
const MOST =
  "<word:(?:most|fewest|least) (?:lines|bytes|space|(?:number|amount) of lines)> [of code|of text]";
const BY = "[(in|by|in terms of|by number of) <unit:bytes|size|file size|lines|line count|length>]";
const LIST =
  "(list|show|find|which|what|name|print|display|give|give me list of|(?:(?:show|print|get|make) )?(?:list|names) of)";
const THERE = "[are|is|do|does|have] [we|you|i|it] [have|see|got|exist|contain|present]";

export const fileForms: Readonly<Record<string, Form>> = {
  "largest or smallest file": {
    example: "which file in src is the largest?",
    wordings: [
      `(which of|which|what) ${FILES} ${WHERE} (is|are|has) ${BIG} [one|size] ${BY}`,
      `(which of|which|what) ${FILES} (is|are) ${BIG} [one] ${WHERE}`,
      `[what is|which is|which one is|show|find|list|get|give|name|print] [top] [<n:${NUMBER}>] ${BIG} ${FILES} ${BY} ${WHERE}`,
      `[what is|which is|show|find|get|give|name] ${BIG} ${FILES} ${WHERE} ${BY}`,
      `what ${BIG} ${FILES} ${WHERE} is`,
      `(which of|which|what) ${FILES} ${WHERE} (has|have|contains|uses|takes|takes up|takes most) ${MOST}`,
      `(which of|which|what) ${FILES} (has|have|contains|uses|takes|takes up) ${MOST} ${WHERE}`,
      `[what is|which is|show|find|name|get|give] ${FILES} ${WHERE} (with|that has|which has|having) ${MOST} ${WHERE_TOO}`,
    ],
    toStep: ({ sort, word, unit, n = "one", within }, refs) =>
      rankFiles(
        within === undefined ? refs : (toRefs(within) ?? refs),
        `**/${toNames(toSort(sort))}`,
        { word, unit, most: toNumber(n) },
      ),
  },
  "newest or oldest file": {
    example: "which file was changed last?",
    wordings: [
      `(which|what) files? ${WHERE} (is|was) <word:newest|latest|oldest|most recent> [one]`,
      `(which|what) files? ${WHERE} (is|was|were|has been|did i|have i) ${CHANGED} (last|most recently|latest)`,
      `(which|what) files? ${WHERE} (is|was) (last|most recently|latest) ${CHANGED}`,
      `[what is|which is|show|find] <word:newest|latest|oldest|most recent> file ${WHERE}`,
      `[what is|which is|show|find] (last|latest|most recently) ${CHANGED} file ${WHERE}`,
    ],
    toStep: ({ word = "newest" }, refs) => newestFile(refs, /oldest/i.test(word)),
  },
  "count files": {
    example: "how many .md files are in docs?",
    wordings: [
      `${COUNT} ${FILES} ${THERE} ${WHERE}`,
      `how many ${FILES} (does|do|has|is|are) <place> (have|contain|hold|has)`,
      `how many ${FILES} (has|does) <place> [got]`,
      `how many ${FILES} <place> (has|contains|holds)`,
      `[what is|give|show] ${FILES} count ${WHERE}`,
    ],
    toStep: ({ sort }, refs) => survey(refs, `**/${toNames(toSort(sort))}`, count),
  },
  "count folders": {
    example: "how many folders are in docs?",
    wordings: [
      `${COUNT} ${FOLDERS} ${THERE} ${WHERE}`,
      `how many ${FOLDERS} (does|do|has) <place> [have|contain]`,
    ],
    toStep: (_, refs) => survey(refs, "**/*", count, "directory"),
  },
  "compare sizes": {
    example: "compare the sizes of src and test",
    wordings: [
      "compare <place>",
      String.raw`(which|what) [one|file] is (bigger|larger|smaller)[,:]? <place>`,
      String.raw`is <place:\S+ (?:bigger|larger|smaller) than \S+>`,
      "how (big|large|heavy) is <place>",
      "how (big|large|heavy) <place> is",
      "[what is|show|print|give|find|get] (size|file size) of <place>",
      "(what is|show|print|give) <place:its> size",
      "what size (is|has) <place>",
      "how many bytes (is|are|are in|does|do|has|have) <place> [have|has]",
    ],
    toStep: (_, refs) => compareSizes(refs),
  },
  "list files": {
    example: "list the files in src",
    wordings: [
      `${LIST} ${FILES} ${THERE} ${WHERE}`,
      "what is <place:here>",
      "what is in <place:[\\w/\\s-]+>",
      String.raw`what does <place:(?:(?:this|the) )?[\w/-]+(?: (?:folder|directory))?> (contain|hold)`,
      `(list|show) [contents? of] <place:[\\w/-]+ (?:folder|directory)|(?:this|the) (?:folder|directory|project|repo)>`,
      "what is inside <place:[\\w/\\s-]+>",
      "(ls|dir) [<place:\\S+>]",
      "(list|show) everything [in <place>]",
    ],
    toStep: ({ sort }, refs) => {
      const extension = toSort(sort);
      return survey(refs, extension === undefined ? "*" : `**/${toNames(extension)}`, list);
    },
  },
  "list folders": {
    example: "which folders are here?",
    wordings: [`${LIST} ${FOLDERS} ${THERE} ${WHERE}`],
    toStep: (_, refs) => survey(refs, "*", list, "directory"),
  },
  "find files": {
    example: "find *.test.ts",
    wordings: [
      `(find|where is|is there) [file|files] (called|named|matching) <name:\\S+> [in <place>]`,
      `(find|where is|is there|locate) [files?] [my|our|the] <name:\\S*[.*]\\S*|readme|license|licence|makefile|dockerfile|changelog> [in <place>]`,
      `(find|where is|is there|locate) a <name:${FILE_NAME}|readme|license|licence|makefile|dockerfile|changelog> [in <place>]`,
      `does [file] <name:${FILE_NAME}> exist [in <place>]`,
    ],
    toStep: ({ name = "" }, refs) => survey(refs, `**/${toNames(unquote(name))}`, list),
  },
};

/**
 * Returns a glob for names. Words with wildcards are globs, .ts is an extension, and other words
 * are a part of the name.
 */
function toNames(word = "*"): string {
  if (/[*?]/.test(word)) return word;
  return word.startsWith(".") ? `*${word}` : `*${toLiteral(word)}*`;
}
