/** The task forms: the wordings they accept, and the step that each becomes. */
import { calculate } from "./arithmetic.ts";
import { changeFile, runCommand } from "./changes.ts";
import { countLines, explain, readFiles, searchText, showLines } from "./contents.ts";
import { compareSizes, count, list, rank, survey } from "./files.ts";
import { unquote } from "./phrase.ts";
import { toLiteral } from "./step.ts";
import type { Answer, Step } from "./step.ts";

/** What the named parts of a wording held. */
type Parts = Readonly<Record<string, string | undefined>>;

interface Form {
  readonly example: string;
  /**
   * Wordings of a whole phrase, tried in order: [a|b] may be left out, (a|b) is one of both, <part>
   * is as little text as will do, <part:a|b> one of both. The rest is as in regular expressions.
   */
  readonly wordings: readonly string[];
  /** `refs` is <place> as paths; this folder if it was left out. */
  readonly toStep: (parts: Parts, refs: readonly string[]) => Step;
}

const FILES = String.raw`[all] [the] [<sort:\*?(\.\w+)+>] files?`;
const NAME = String.raw`<name:\S*[.*]\S*|(?<=(called|named|matching)\s)\S+>`;
const TERM = String.raw`[-+*/%^().\d\s]+`;

export const forms: Readonly<Record<string, Form>> = {
  help: {
    example: "what can you do?",
    wordings: ["what can (you|i) do", "(who|what) are you", "(help|hello|hi|hey|thanks|thank you)"],
    toStep: () => help,
  },
  calculate: {
    example: "what is (2 + 3) * 4.5?",
    wordings: [`[what is|how much is|calculate] <sum:${TERM}[-+*/%^]${TERM}>`],
    toStep:
      ({ sum = "" }) =>
      () =>
        calculate(sum),
  },
  "run a command": {
    example: "run `npm -v`",
    wordings: ["(run|execute) [the command] <command>"],
    toStep: ({ command = "" }) => runCommand(command),
  },
  "write a file": {
    example: 'write "hello" to notes.txt',
    wordings: [
      "(write|save) <content:.+> (to|into|as) <place>",
      "create [a] file [called] <place> with <content>",
    ],
    toStep: ({ content = "" }, refs) => changeFile("write", { content }, refs),
  },
  "replace text": {
    example: "replace colour with color in notes.txt",
    wordings: ["(replace|change|rename) [all] <oldText> (with|by|to) <newText:.+> in <place>"],
    toStep: ({ oldText = "", newText = "" }, refs) =>
      changeFile("edit", { oldText, newText }, refs),
  },
  "count occurrences": {
    example: 'how often does "agent" occur in README.md?',
    wordings: [
      "how (often|many times) (does|is) [the] [word|text] <text> (occur|appear|used) [in <place>]",
    ],
    toStep: ({ text = "" }, refs) => searchText(unquote(text), refs),
  },
  "count lines": {
    example: "how many lines does README.md have?",
    wordings: [
      "(how many|count) [the] lines (are in|does|do|of|in) <place> [have]",
      "count <place:its> lines",
    ],
    toStep: (_, refs) => readFiles(refs, { to: 1 }, countLines),
  },
  "count files": {
    example: "how many .md files are in docs?",
    wordings: [`(how many|count) ${FILES} [are|does] [there] [in] [<place>] [have]`],
    toStep: ({ sort }, refs) => survey(refs, `**/${toNames(sort)}`, count),
  },
  "largest or smallest file": {
    example: "which file in src is the largest?",
    wordings: [
      `(which|what) ${FILES} [in <place>] is [the] <word:largest|biggest|smallest>`,
      `[what is|show|find] [me] [the] <word:largest|biggest|smallest> ${FILES} [in <place>]`,
    ],
    toStep: ({ sort, word }, refs) => survey(refs, `**/${toNames(sort)}`, rank(word)),
  },
  "compare sizes": {
    example: "compare the sizes of src and test",
    wordings: [
      "compare <place>",
      "how (big|large) is <place>",
      "what is <place:its size|the size of .+>",
    ],
    toStep: (_, refs) => compareSizes(refs),
  },
  explain: {
    example: "what is package.json for?",
    wordings: ["what is <place> (for|about)", "what does <place> do", "(explain|describe) <place>"],
    toStep: (_, refs) => readFiles(refs, { to: 60 }, explain),
  },
  "list files": {
    example: "list the files in src",
    wordings: [
      `(list|show|find|which|what) [me] ${FILES} [are] [there] [in] [<place>]`,
      "what is in <place:[\\w/\\s-]+>",
    ],
    toStep: ({ sort }, refs) =>
      survey(refs, sort === undefined ? "*" : `**/${toNames(sort)}`, list),
  },
  "find files": {
    example: "find *.test.ts",
    wordings: [
      `(find|where is|is there) [a|the] [files?] [called|named|matching] ${NAME} [in <place>]`,
    ],
    toStep: ({ name = "" }, refs) => survey(refs, `**/${toNames(unquote(name))}`, list),
  },
  "search text": {
    example: 'search for "TODO" in src',
    wordings: [
      "(search|grep|look|find) [for] <text:.+> in <place>",
      "(search|grep|look) [for] <text>",
    ],
    toStep: ({ text = "" }, refs) => searchText(unquote(text), refs),
  },
  "read a file": {
    example: "show the first 5 lines of README.md",
    wordings: [
      String.raw`(read|show|print|what is) [me] [the] <end:first|last> [<n:\d+>] lines? (of|in) <place>`,
      String.raw`(read|show|print) [me] lines? <from:\d+>((-| to )<to:\d+>)? (of|in) <place>`,
      "(read|show|print|open|cat|what is in) [me] <place>",
    ],
    toStep: (parts, refs) => readFiles(refs, toRange(parts), showLines),
  },
};

/** The forms, and the way to combine them, for the help and the documentation. */
export const taskForms: readonly { readonly name: string; readonly example: string }[] = [
  ...Object.entries(forms).map(([name, { example }]) => ({ name, example })),
  { name: "combine", example: "which file in src is the largest and what is it for?" },
];

export function help(): Answer {
  const lines = taskForms.map(({ name, example }) => `- ${name}: ${example}`).join("\n");
  const text = `I am the practice model: a planner with a fixed grammar, not an LLM. I need no key, so that everything else (the \
server, streaming, tools, the loop) can be tried at once. For a real model, set a key such as ANTHROPIC_API_KEY=... or \
OPENAI_API_KEY=..., choose with --model provider/model, or run a local server such as Ollama.

What I understand, with an example each:\n\n${lines}`;
  return { text };
}

/**
 * A glob for names: what has wildcards is one, .ts is an extension, and anything else is a part of
 * the name.
 */
function toNames(word = "*"): string {
  if (/[*?]/.test(word)) return word;
  return word.startsWith(".") ? `*${word}` : `*${toLiteral(word)}*`;
}

function toRange({ end = "", n = "1", from, to = from }: Parts): Parameters<typeof readFiles>[1] {
  if (end !== "") return /last/i.test(end) ? { last: Number(n) } : { to: Number(n) };
  return from === undefined ? {} : { from: Number(from), to: Number(to) };
}
