/** The task forms: the wordings they accept, which are also their documentation, and the step that each becomes. */
import { calculate, toExpression } from "./arithmetic.ts";
import { replaceText, runCommand, writeFile } from "./changes.ts";
import { countLines, explain, readFiles, searchText } from "./contents.ts";
import { countFiles, findFiles, listFiles, measure, rankFiles, toScope } from "./files.ts";
import type { Scope } from "./files.ts";
import { isQuoted, restore, toRefs, unquote } from "./phrase.ts";
import { Setback } from "./step.ts";
import type { Answer, Step } from "./step.ts";

/** One kind of task, for the help and the documentation. */
interface TaskForm {
  readonly name: string;
  /** The usual wording: what is in [ ] may be left out, < > stands for a name or a text. */
  readonly pattern: string;
  readonly example: string;
}

type Parts = Readonly<Record<string, string | undefined>>;

interface Form {
  readonly name: string;
  readonly example: string;
  /**
   * Wordings of a whole phrase, tried in order: [a|b] may be left out, (a|b) is one of both, <part> is as little text as will do,
   * <part+> as much, <part:a|b> one of both. The rest is as in regular expressions.
   */
  readonly wordings: readonly string[];
  /** Undefined if the parts make no sense together, so that other wordings have their try. */
  readonly toStep: (parts: Parts) => Step | undefined;
}

const COUNT = "(how many|count) [all] [the|its] [number of]";
const ASK = "[show|list|find|name|give|read|print|what is|which is] [me|us] [the|a] [list of]";
const FILES = "<files:.*\\b(files|folders|directories)\\b.*>";
const SEEK = "(search|grep|look|find) [for] [the] [text|word]";

export const forms: readonly Form[] = [
  {
    name: "help",
    example: "what can you do?",
    wordings: [
      "what can (you|i) do [<more>]",
      "(who|what) are you [<more>]",
      "(help|hello|hi|hey|thanks|thank you) [there|me]",
    ],
    toStep: () => help,
  },
  {
    name: "calculate",
    example: "what is (2 + 3) * 4.5?",
    wordings: [
      "[what is|how much is|calculate|compute] <sum>",
      "<verb:multiply|divide|add> <sum> (by|with|to|and) <by>",
    ],
    toStep: toCalculation,
  },
  {
    name: "run a command",
    example: "run `npm -v`",
    wordings: ["(run|execute) [the] [command] <command>", "\\$ <command>"],
    toStep: toCommand,
  },
  {
    name: "write a file",
    example: 'write "hello" to notes.txt',
    wordings: [
      "(write|save|store) <text+> (to|into|in|as) <file>",
      "(create|make|write) [a|an|the] [new|empty] file [called|named] <file> [(with the text|with|containing) <text>]",
      "create [a|an|the] [new|empty] <file:\\S*[./]\\S*> [(with the text|with|containing) <text>]",
      "write [this|the following] (to|into) <file>: <text>",
    ],
    toStep: ({ text = "", file }) => onFiles(file, (refs) => writeFile(text, refs)),
  },
  {
    name: "replace text",
    example: "replace colour with color in notes.txt",
    wordings: [
      "(replace|change|rename) [all|every|the] [text|word|name] <from> (with|by|to|into) <to+> in <file>",
      "in <file>,? (replace|change|rename) [all|every|the] [text|word|name] <from> (with|by|to|into) <to>",
      "(remove|delete) [all|every|the] [text|word] <from+> from <file>",
    ],
    toStep: ({ from = "", to = "", file }) => onFiles(file, (refs) => replaceText(from, to, refs)),
  },
  {
    name: "count occurrences",
    example: 'how often does the word "agent" occur in README.md?',
    wordings: [
      "how (often|many times) (does|do|is|are) [the] [<word:word>] <text> (occur|appear|used|mentioned|found) [in <files>]",
      `${COUNT} (occurrences|uses|mentions) of [the] [<word:word>] <text> [in <files>]`,
    ],
    toStep: (parts) => toSearch(parts, true),
  },
  {
    name: "count lines",
    example: "how many lines does README.md have?",
    wordings: [`${COUNT} lines [of code] [are|do|does] [there] [in|of] [<file>] [have|has]`, "how long is <file>"],
    toStep: ({ file = "it" }) => onFiles(file, countLines),
  },
  {
    name: "count files",
    example: "how many .md files are in docs?",
    wordings: [`${COUNT} <files:(\\S+ )?(files|folders)> [are|do|does] [there] [in] [<place>] [have|has|contain]`],
    toStep: (parts) => onScope(parts, countFiles),
  },
  {
    name: "largest or smallest file",
    example: "which file in src is the largest?",
    wordings: [
      "(which|what) <files> (is|are) [the] <word:largest|biggest|smallest> [one]",
      `${ASK} <word:largest|biggest|smallest> <files>`,
    ],
    toStep: (parts) => onScope(parts, (scope) => rankFiles(scope, parts["word"] ?? "")),
  },
  {
    name: "compare sizes",
    example: "compare the sizes of src and test",
    wordings: [
      "compare [the] [sizes of] <file>",
      "how (big|large|small) is <file>",
      "which [one|file|folder] is (bigger|larger|smaller)[,:]? <file>",
      "is <file:.+ (bigger|larger|smaller) than .+>",
      "[what is] [the|its] size [of] [<file>]",
    ],
    toStep: ({ file = "it" }) => onFiles(file, measure),
  },
  {
    name: "explain",
    example: "what is package.json for?",
    wordings: [
      "what is <file> (for|about)",
      "what <file> is (for|about)",
      "what is the (purpose|point) of <file>",
      "what (does|do) <file> do",
      "(explain|describe|summari[sz]e) <file>",
      "what is <file:\\S+\\.\\w+|this \\w+>",
    ],
    toStep: ({ file }) => onFiles(file, explain),
  },
  {
    name: "list files",
    example: "list the files in src",
    wordings: [
      `list [the] ${FILES}`,
      `${ASK} ${FILES} [are there]`,
      `(which|what) ${FILES} are [there] [in] [<place>]`,
      "(ls|list) [<place>]",
      "what is in <place:(the )?[^\\s.]+( folder)?>",
    ],
    toStep: (parts) => onScope(parts, (scope) => listFiles(scope)),
  },
  {
    name: "find files",
    example: "find *.test.ts",
    wordings: [
      "(find|locate|where is) [all] [the] [file] <name:\\S*[.*/]\\S*> [in <files>]",
      "(find|list|show|search for) [all|any] [the|a] (files?|folders?) (named|called|matching) <name:\\S+> [in <files>]",
      "(is|are) there [a|an|any] [files?] [called|named|matching] <name:\\S+> [in <files>]",
      "(find|locate) <name:[\\w-]+>",
    ],
    toStep: ({ name = "", files = "here" }) => onFiles(files, (places) => findFiles(unquote(name), places)),
  },
  {
    name: "search text",
    example: 'search for "TODO" in src',
    wordings: [
      "search [for] [the] [text|word] <text+> in <files>",
      "find [all] [the] (uses|usages|mentions|occurrences) of <text> [in <files>]",
      "(find|list|show) [all] [the] <files> (containing|that contain|with|that mention|that use) <text>",
      `${SEEK} <text+> in <files>`,
      "(search|grep) [in] <files> for <text>",
      "(search|grep|look) [for] [the] [text|word] <text>",
      "find <text:\\S+>",
      "where is <text> [<word:used|called|mentioned|defined>] [in <files>]",
      "where do (we|i|you) use <text> [in <files>]",
      "(which|what) <files> (contains?|mentions?|uses?|includes?|imports?|has|have) <text>",
    ],
    toStep: (parts) => toSearch(parts, false),
  },
  {
    name: "read a file",
    example: "show the first 5 lines of README.md",
    wordings: [
      "(read|show|print|open|cat|display|view|see) [me] <file> [back|again]",
      `${ASK} <end:first|top|last> [<n>] lines? (of|from|in) <file>`,
      `${ASK} lines? <from:\\d+>(\\s*(to|through|-|and)\\s*<to:\\d+>)? (of|from|in) <file>`,
      "<end:head|tail> [of] <file>",
      "what is in <file>",
      "what does <file> (say|contain)",
    ],
    toStep: toReading,
  },
];

export const taskForms: readonly TaskForm[] = [
  ...forms.map(({ name, wordings, example }) => ({ name, pattern: toDocumentation(wordings[0]), example })),
  {
    name: "combine",
    pattern: "<task> (and|then|;) <task>, where “it” is what the task before found",
    example: "which file in src is the largest and what is it for?",
  },
];

/** <part:a|b> is shown as (a|b), a part with another expression by its name only. */
function toDocumentation(wording = ""): string {
  return wording.replaceAll(/<(\w+)\+?(?::([\w|]+)|:[^>]+)?>/g, (_, name: string, words?: string) =>
    words ? `(${words})` : `<${name}>`,
  );
}

const INTRODUCTION = `I am the practice model: a planner with a fixed grammar, not an LLM. I need no key, so that everything \
else (the server, streaming, tools, the loop) can be tried at once. For a real model, set a key such as ANTHROPIC_API_KEY=... or \
OPENAI_API_KEY=..., choose with --model provider/model, or run a local server such as Ollama.`;

export function help(): Answer {
  const lines = taskForms.map(({ name, pattern, example }) => `- **${name}**: ${pattern}\n  e.g. ${example}`);
  return { text: `${INTRODUCTION}\n\nWhat I understand:\n\n${lines.join("\n")}` };
}

function toCalculation({ sum = "", verb, by = "" }: Parts): Step | undefined {
  const sign = { multiply: "*", divide: "/", add: "+" }[verb?.toLowerCase() ?? ""];
  const expression = toExpression(sign === undefined ? sum : `(${sum}) ${sign} (${by})`);
  if (expression === undefined) return undefined;
  return ({ value = "" }) => {
    if (expression.includes("it") && !/^-?[\d.]+$/.test(value))
      throw new Setback("I have no number to calculate with.");
    const numbers = expression.replaceAll("it", value.startsWith("-") ? `(${value})` : value);
    const shown = numbers.replaceAll(/\(([\d.]+)\)/g, "$1");
    const { text, isExact } = calculate(numbers);
    return { text: `${shown} ${isExact ? "=" : "is about"} ${text}`, value: text };
  };
}

function toCommand({ command = "" }: Parts): Step | undefined {
  if (/^(?:all )?(?:the |my )?tests?$/i.test(command)) return runCommand("npm test");
  // A shell would take what is meant for me as its own: "and" as an argument, backticks round a part as a command.
  const isMixed = restore(command).includes("`") || /\s(?:and|then)\s/i.test(command);
  return isMixed && !isQuoted(command) ? undefined : runCommand(unquote(command));
}

function toReading({ end = "", n, from, to, file }: Parts): Step | undefined {
  const numbers: Parts = { two: "2", three: "3", five: "5", ten: "10", few: "5" };
  const count = Number(numbers[n ?? ""] ?? n ?? (/head|tail/i.test(end) ? 10 : 1));
  if (!Number.isInteger(count) || count < 1) return undefined;
  if (/last|tail/i.test(end)) return onFiles(file, (refs) => readFiles(refs, { last: count }));
  const lines = end === "" ? { from: Number(from), to: Number(to ?? from) } : { to: count };
  return onFiles(file, (refs) => readFiles(refs, end === "" && from === undefined ? {} : lines));
}

function toSearch({ text = "", word, files = "files" }: Parts, isCount: boolean): Step | undefined {
  const where = toScope(files) ?? toScope(`files in ${files}`);
  return where && searchText({ text, scope: where, isWord: word !== undefined, isCount });
}

function onFiles(words: string | undefined, toStep: (refs: readonly string[]) => Step): Step | undefined {
  const refs = toRefs(words);
  return refs && toStep(refs);
}

function onScope({ files = "files", place }: Parts, toStep: (scope: Scope) => Step): Step | undefined {
  const found = toScope(place === undefined ? files : `${files} in ${place}`);
  return found && toStep(found);
}
