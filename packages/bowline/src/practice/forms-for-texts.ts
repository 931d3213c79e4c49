/** Questions about the content of files: counts, lines, explanations and fields. */
import { countText, explain, readFiles, showLines } from "./contents.ts";
import type { Range } from "./contents.ts";
import { readField } from "./fields.ts";
import type { Form, Parts } from "./form.ts";
import { COUNT, FILE, FILE_NAME, NUMBER, ORDINAL, SHOW, toNumber } from "./vocabulary.ts";

const WHAT = "<what:lines|words|characters>";
const END = `<end:first|last|top|bottom|final> [<n:${NUMBER}>]`;
const SIDE = "<side:end|beginning|start|head|tail|top|bottom>";
const SEE = `[${SHOW}|what is|what are]`;
const OF = "(of|in|from|on)";
const JSON_FILE = String.raw`<place:(?:the )?(?:file )?(?:\S*\.json|[\uD800-\uDFFF]+)>`;
const FIELD = String.raw`<field:[\w$-]+>`;

export const textForms: Readonly<Record<string, Form>> = {
  "count lines or words": {
    example: "how many lines does README.md have?",
    wordings: [
      `${COUNT} ${WHAT} [of code|of text] (are in|are there in|does|do|of|in|has|have) <place> [have|has|contain]`,
      `how many ${WHAT} <place> (has|have|contains|is)`,
      `count <place:its> ${WHAT}`,
      `[what is|show|give] <what:line|word|character> count (of|in|for) <place>`,
      "how long is <place>",
    ],
    toStep: ({ what = "lines" }, refs) =>
      countText(what.toLowerCase().replace(/(?<!s)$/, "s"), refs),
  },
  explain: {
    example: "what is package.json for?",
    wordings: [
      "what is <place> (for|about)",
      "what <place> is (for|about)",
      "what does <place> do",
      "what <place> does",
      "what is purpose of <place>",
      "(explain|describe|summari[sz]e) [what|code in|code of] <place> [does|is for|is about]",
      `what is <place:${FILE_NAME}>`,
      "(give|show) [short] (summary|description) of <place>",
      "about <place>",
    ],
    toStep: (_, refs) => readFiles(refs, { to: 60 }, explain, true),
  },
  "read a file": {
    example: "show the first 5 lines of README.md",
    wordings: [
      `${SEE} ${END} lines? ${OF} <place>`,
      `${SEE} <place:its> ${END} lines?`,
      `${SEE} ${SIDE} (of|from) <place>`,
      `(show|print|see|give) how <place> <side:starts|begins|ends>`,
      `how (does|do) <place> <side:start|begin|end>`,
      `what does <place:${FILE}> <side:start|begin|end> with`,
      `what is at ${SIDE} of <place>`,
      String.raw`<side:head|tail> [(?:-n )?-?<n:\d+>] <place>`,
      String.raw`${SEE} lines? [number|no.?] <from:\d+>(?:(?:-| - | to | through | until )<to:\d+>)? ${OF} <place>`,
      String.raw`${SEE} <place:${FILE}>,? lines? [number] <from:\d+>(?:(?:-| - | to | through )<to:\d+>)?`,
      `${SEE} <from:${ORDINAL}> line ${OF} <place>`,
      String.raw`${SEE} <from:\d+>(?:st|nd|rd|th) line ${OF} <place>`,
      String.raw`(what is|what does|what stands) [on|in|at|written on] line [number] <from:\d+> (of|in) <place> [say|says|contain]`,
      `what (does|do) ${END} lines? ${OF} <place> [say|contain]`,
      `what does <place:${FILE}> (contain|say|look like|hold|have|have in it)`,
      `what is (in|inside|in file|inside of|written in|stored in|contents? of|text of|content in) <place>`,
      `(contents?|text) of <place>`,
      `<place:${FILE}> (contents?|text)`,
      `what <place:${FILE}> (says|contains)`,
      `${SHOW} [what is in|what is inside|text of|everything in|all of|content of|what is written in] [whole|full|entire|complete] <place>`,
    ],
    toStep: (parts, refs) => readFiles(refs, toRange(parts), showLines),
  },
  "read a field": {
    example: "what is the version in package.json?",
    wordings: [
      `[what is|what are|which|what|show|give|get|read|print|find|tell] ${FIELD} [field|value|key|is] [is] (in|of|from|does|is in|listed in|given in) ${JSON_FILE} [have|has|say|state|give|name]`,
      `(which|what) ${FIELD} (does|do|has|is) ${JSON_FILE} [have|say|state|give|name|set]`,
      `[what is|what are|show|get|give|read|print] ${JSON_FILE}(?:['’]s)? ${FIELD} [field]`,
      `(what|which) does ${JSON_FILE} (say|give|have|state) (as|for) ${FIELD}`,
    ],
    toStep: ({ field = "" }, refs) => readField(field, refs),
  },
};

/** Number of lines to show of the beginning or the end if no number is named. */
const SIDE_LINES = 10;

function toRange({ end = "", side = "", n, from, to = from }: Parts): Range {
  const part = end || side;
  const count = n === undefined ? (end === "" ? SIDE_LINES : 1) : toNumber(n);
  if (part !== "")
    return /last|bottom|tail|end|final/i.test(part) ? { last: count } : { to: count };
  return from === undefined ? {} : { from: toNumber(from), to: toNumber(to ?? from) };
}
