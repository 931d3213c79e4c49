/** Requests that change files. The planner writes only text that the person gave. */
import {
  appendLine,
  copyOrMove,
  createFile,
  makeFolder,
  refuseDelete,
  replaceText,
  writeFile,
} from "./changes.ts";
import type { Form } from "./form.ts";
import { toGivenText } from "./given-text.ts";
import { FILE_NAME, WORD } from "./vocabulary.ts";

const NEW = "[new] [small|short|little] [empty] [text|markdown|plain text]";
const CALLED = "[called|named|with name]";
const NOUN = "text|content|contents|line|words?|phrase|sentence|message|body";
const SAYING = `(containing|that says|which says|saying|that contains|which contains|that reads|reading|to say) [${NOUN}] [saying|:]`;
const HAVING = "(with|having|that has|which has)";
/** "I want" and similar words create a file only if both its name and its text are given. */
const CREATE =
  "(create|make|write|add|start|generate|do|save|i want|i need|i would like|i would like to have|i want to have|i would like you to create|give|touch|new)";
const IN_IT = "(in|inside|into|within|to) (it|there|that file|this file|file)";

export const changeForms: Readonly<Record<string, Form>> = {
  "append a line": {
    example: 'append "hello" to notes.txt',
    wordings: [
      "(append|add) [new] [line|text|word] [saying|that says] <content:.+> (to|at) [(?:end|bottom) of] <place>",
      "(put|write|insert) [new] [line|text|word] <content:.+> (at|on|to) (end|bottom) of <place>",
    ],
    toStep: ({ content = "" }, refs) => appendLine(content, refs),
  },
  "create a file": {
    example: 'create a file called notes.txt with "hello"',
    wordings: [
      `${CREATE} ${NEW} [file] ${CALLED} <place> ${HAVING} <content> (in|inside) (it|there)`,
      `${CREATE} ${NEW} [file] ${CALLED} <place> ${HAVING} <content> inside`,
      `${CREATE} ${NEW} [file] ${CALLED} <place>,? [and|then|and then] (put|write|add|insert|place|store) [text|words?|line] <content> ${IN_IT}`,
      `${CREATE} ${NEW} [file] ${CALLED} <place> ${SAYING} <content:.+>`,
      `${CREATE} ${NEW} [file] ${CALLED} <place> ${HAVING} (${NOUN}) [saying|:] <content:.+>`,
      `${CREATE} ${NEW} [file] ${CALLED} <place> ${HAVING} <loose:.+>`,
      `(put|write|save|store) [text|words?|line] <content> (in|into|to|inside) (new|new text) file ${CALLED} <place>`,
      `(create|make|add|start|generate) ${NEW} file ${CALLED} <place>`,
      `(create|touch|make) ${NEW} <place:${FILE_NAME}>`,
    ],
    // "with tabs" may describe the text or be the text, so it needs quotes.
    toStep: ({ content, loose, message = "" }, refs) => {
      const text = loose ?? content;
      return createFile(text && toGivenText(text, message, loose !== undefined), refs);
    },
  },
  "write a file": {
    example: 'write "hello" to notes.txt',
    wordings: [
      "(write|save|put|store) [text|line|word|words] <content:.+> (to|into|as|in) [new] [file] [called|named] <place>",
    ],
    toStep: ({ content = "" }, refs) => writeFile(content, refs),
  },
  "replace text": {
    example: "replace colour with color in notes.txt",
    wordings: [
      "<verb:replace|change|rename|substitute> [every|each] [occurrences? of] [word|text] <oldText> (with|by|to) <newText:.+> in <place>",
    ],
    // "change version to 2.0.0" means the value of a setting, which this planner cannot find.
    toStep: ({ verb = "", oldText = "", newText = "" }, refs) =>
      replaceText([oldText, newText], refs, /change/i.test(verb)),
  },
  "rename or copy": {
    example: "rename notes.txt to ideas.txt",
    wordings: [
      `<verb:rename|move|copy|duplicate> [file|folder] <from:${WORD}> (to|as|into) <place:${WORD}>`,
    ],
    toStep: ({ verb = "", from = "" }, refs) =>
      copyOrMove(/copy|duplicate/i.test(verb) ? "cp" : "mv", from, refs),
  },
  "make a folder": {
    example: "make a folder called drafts",
    wordings: [`(create|make|add) ${NEW} (folder|directory) ${CALLED} <place>`],
    toStep: (_, refs) => makeFolder(refs),
  },
  delete: {
    wordings: ["(delete|remove|erase) <place>"],
    toStep: (_, refs) => refuseDelete(refs),
  },
};
