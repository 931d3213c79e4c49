/** Questions about the content of files: where a text is, how long it is, what it says. */
import { countText, explain, readFiles, showLines } from "./contents.ts";
import type { Range } from "./contents.ts";
import type { Form, Parts } from "./form.ts";
import { findDefinition, searchText } from "./searches.ts";
import { COUNT, FILE_NAME, IN, NUMBER, ORDINAL, SHOW, toNumber, WORD } from "./vocabulary.ts";

const WHERE = `[${IN} <place>]`;
const TEXT = "[word|words|text|string|term] <text>";
const WHAT = "<what:lines|words|characters>";
const KIND = "[function|class|type|interface|method|variable|constant|const|enum]";
const MENTION = "(mentions?|contains?|uses?|includes?|imports?|calls?)";
const OCCUR = "(used|mentioned|called|imported|occur|occurs|appear|appears)";
const END = `<end:first|last|top|bottom> [<n:${NUMBER}>]`;

export const textForms: Readonly<Record<string, Form>> = {
  "find a definition": {
    example: "where is parsePrice defined?",
    wordings: [
      String.raw`where is ${KIND} <name:[\w$]+> (defined|declared|implemented) ${WHERE}`,
      String.raw`where <name:[\w$]+> is (defined|declared|implemented) ${WHERE}`,
      String.raw`(find|show) (definition|declaration) of ${KIND} <name:[\w$]+> ${WHERE}`,
      String.raw`(which|what) file (defines|declares|implements) ${KIND} <name:[\w$]+> ${WHERE}`,
    ],
    toStep: ({ name = "" }, refs) => findDefinition(name, refs),
  },
  "count occurrences": {
    example: 'how often does "agent" occur in README.md?',
    wordings: [
      `how (often|many times) (does|do|is|are) ${TEXT} (occur|appear|used|mentioned|come up) [in <place>]`,
      `(how many|count) (times|occurrences of) ${TEXT} [are] (in|occurs in|appears in) <place>`,
      "(how many|count) <text:todos?|fixmes?> [are] [in <place>]",
    ],
    toStep: ({ text = "" }, refs) => searchText(text, refs),
  },
  "count lines or words": {
    example: "how many lines does README.md have?",
    wordings: [
      `${COUNT} ${WHAT} [of code|of text] (are in|are there in|does|do|of|in|has|have) <place> [have|has|contain]`,
      `how many ${WHAT} <place> (has|have|contains|is)`,
      `count <place:its> ${WHAT}`,
      "how long is <place>",
    ],
    toStep: ({ what = "lines" }, refs) => countText(what.toLowerCase(), refs),
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
      `(${SHOW}|what is) ${END} lines? (of|in|from) <place>`,
      `(${SHOW}|what is) <place:its> ${END} lines?`,
      "[show] <end:head|tail> of <place>",
      String.raw`${SHOW} lines? <from:\d+>(?:(?:-| to )<to:\d+>)? (of|in|from) <place>`,
      `(${SHOW}|what is) <from:${ORDINAL}> line (of|in|from) <place>`,
      String.raw`(what is|what does) [on|in|at] line <from:\d+> (of|in) <place> [say]`,
      `what does <place:(?:the )?(?:file )?${FILE_NAME}|it> (contain|say|look like)`,
      `what is (in|contents? of) <place>`,
      `${SHOW} [what is in] [whole|full|entire] <place>`,
    ],
    toStep: (parts, refs) => readFiles(refs, toRange(parts), showLines),
  },
  "search text": {
    example: 'search for "TODO" in src',
    wordings: [
      `(search|grep) <place:${FILE_NAME}|it> for ${TEXT}`,
      `(search|grep) [this|our|my] (folder|project|repo|directory|files) for ${TEXT}`,
      `in (which|what) files? is ${TEXT}`,
      "(search|grep|look|find) [for] <text:.+> in <place>",
      `(search|grep|look) [for] ${TEXT}`,
      `(which|what) files? ${WHERE} ${MENTION} ${TEXT}`,
      `(find|list|show) files? ${WHERE} (that|which) ${MENTION} ${TEXT}`,
      `(find|list|show) files? ${WHERE} (containing|mentioning|with|using) ${TEXT}`,
      `(is|are) (any|some) <text:\\S+> in <place>`,
      `(is|are) (any|some) <text:todos?|fixmes?>`,
      `(which|what) files? [have|has] ${TEXT} in (it|them)`,
      `does <place:${FILE_NAME}|it> (contain|mention|include|use) ${TEXT}`,
      `(where is|where does|where do) [word] ${KIND} <text:${WORD}> ${OCCUR} [in <place>]`,
      `where (do|does|did) (we|i|it) (use|call|mention|import) ${TEXT}`,
      `(find|where is) [all|every|any] [occurrences? of] ${KIND} <text:${WORD}>`,
    ],
    toStep: ({ text = "" }, refs) => searchText(text, refs),
  },
};

function toRange({ end = "", n = "1", from, to = from }: Parts): Range {
  if (/head|tail/i.test(end)) n = "10";
  if (end !== "")
    return /last|bottom|tail/i.test(end) ? { last: toNumber(n) } : { to: toNumber(n) };
  return from === undefined ? {} : { from: toNumber(from), to: toNumber(to ?? from) };
}
