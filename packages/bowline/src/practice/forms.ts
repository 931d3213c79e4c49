/** The task forms: what the help calls them, the wordings they accept, and the step that each becomes. */
import { calculate, toExpression } from "./arithmetic.ts";
import { replaceText, runCommand, writeFile } from "./changes.ts";
import { countLines, explain, readFiles, searchText } from "./contents.ts";
import { countFiles, findFiles, listFiles, measure, rankFiles, toScope } from "./files.ts";
import type { Scope } from "./files.ts";
import { isQuoted, restore, toRefs, unquote } from "./phrase.ts";
import { Setback } from "./step.ts";
import type { Answer, Step } from "./step.ts";
import { bullets } from "./wording.ts";

/** One kind of task, for the help and the documentation. */
export interface TaskForm {
  readonly name: string;
  /** What is in [ ] may be left out; < > stands for a name or a text. */
  readonly pattern: string;
  readonly example: string;
}

type Groups = Readonly<Record<string, string | undefined>>;

export interface Form extends TaskForm {
  /** Regular expressions for a whole phrase; a space stands for any white space. The first that gives a step counts. */
  readonly wordings: readonly string[];
  /** Undefined if the parts make no sense, so that other forms have their try. */
  readonly toStep: (parts: Groups) => Step | undefined;
}

const IN = "(?: (?:in|inside|within|under|across) (?<scope>.+?))?";
const COUNT = "(?:how many|count)(?: all)?(?: the| its)?(?: number of)?";
const SHOW = "(?:show|read|print|display|view|see|open|cat|list|find|name|give|get|tell)(?: me| us)?";
const ASK = `(?:${SHOW}|what is|which is|what are|which are)`;
const SEEK = "(?:search for|look for|grep for|search|grep|find)(?: the)?(?: text| word| string)?";
const MOST = "(?<word>largest|biggest|smallest|tiniest)";
const WITH = "(?: (?:with|containing|that says)(?: the)?(?: contents?| text)?:? (?<text>.+))?";

export const forms: readonly Form[] = [
  {
    name: "help",
    pattern: "who are you | what can you do | help",
    example: "what can you do?",
    wordings: [
      "(?:help|hello|hi|hey|thanks|thank you)(?: there| me)?",
      "(?:who|what) are you.*|what can (?:you|i) (?:do|ask).*",
    ],
    toStep: () => help,
  },
  {
    name: "calculate",
    pattern: "[what is] <numbers with + - * / % ^ and ( )>",
    example: "what is (2 + 3) * 4.5?",
    wordings: [
      "(?:what is |how much is |calculate |compute |evaluate |work out )?(?<sum>.+)",
      "(?<verb>multiply|divide|add) (?<sum>.+) (?:by|with|to|and) (?<by>.+)",
    ],
    toStep: toCalculation,
  },
  {
    name: "run a command",
    pattern: "run <command> | run the tests",
    example: "run `npm -v`",
    wordings: [
      "run (?:all )?(?:the |my )?(?<tests>tests?)",
      "(?:(?:run|execute)(?: the)?(?: shell)?(?: command)?:?|\\$) (?<command>.+)",
    ],
    toStep: toCommand,
  },
  {
    name: "write a file",
    pattern: "write <text> to <file> | create <file> [with <text>]",
    example: 'write "hello" to notes.txt',
    wordings: [
      "(?:write|save|store)(?: this| the following)?(?: text)? (?:to|into|in) (?<file>\\S+): ?(?<text>.+)",
      "(?:write|save|store) (?<text>.+) (?:to|into|in|as) (?<file>.+)",
      `(?:create|make|write)(?: an?| the)?(?: new| empty)* file(?: called| named)? (?<file>\\S+?)${WITH}`,
      `create(?: an?| the)?(?: new| empty)* (?<file>\\S*[./]\\S*?)${WITH}`,
    ],
    toStep: ({ text = "", file }) => onFiles(file, (refs) => writeFile(text, refs)),
  },
  {
    name: "replace text",
    pattern: "replace <text> with <text> in <file> | remove <text> from <file>",
    example: "replace colour with color in notes.txt",
    wordings: [
      "(?:replace|change|rename|substitute)(?: all| every| the)*(?: text| word| name)? (?<from>.+?) (?:with|by|to|into) (?<to>.+) in (?<file>.+)",
      "in (?<file>\\S+?),? (?:replace|change|rename)(?: all| every| the)*(?: text| word)? (?<from>.+?) (?:with|by|to|into) (?<to>.+)",
      "(?:remove|delete)(?: all| the)*(?: text| word)? (?<from>.+) (?:from|in) (?<file>.+)",
    ],
    toStep: ({ from = "", to = "", file }) => onFiles(file, (refs) => replaceText(from, to, refs)),
  },
  {
    name: "count occurrences",
    pattern: "how often does [the word] <text> occur in <file or folder>",
    example: 'how often does the word "agent" occur in README.md?',
    wordings: [
      `how (?:many times|often) (?:does|do|is|are)(?: the)? (?<word>word )?(?<text>.+?) (?:occur|appear|used|mentioned|found)${IN}`,
      `${COUNT} (?:occurrences|uses|mentions) of(?: the)? (?<word>word )?(?<text>.+?)(?: are there)?${IN}`,
    ],
    toStep: (parts) => toSearch(parts, true),
  },
  {
    name: "count lines",
    pattern: "how many lines does <file> have | count the lines of <file>",
    example: "how many lines does README.md have?",
    wordings: [
      `${COUNT} lines(?: of code)?(?: are| does| do)?(?: there)?(?: in| of)?(?: (?<file>.+?))?(?: have| has| contain)?`,
      "how long is (?<file>.+)",
    ],
    toStep: ({ file = "it" }) => onFiles(file, countLines),
  },
  {
    name: "count files",
    pattern: "how many [.ts] files are in <folder>",
    example: "how many .md files are in docs?",
    wordings: [
      `${COUNT} (?<scope>(?:\\S+ )?(?:files|folders|directories))(?: are| do| does)?(?: there)?(?: in)?(?: (?<place>.+?))?(?: have| has| contain)?`,
    ],
    toStep: (parts) => onScope(parts, countFiles),
  },
  {
    name: "largest or smallest file",
    pattern: "which file in <folder> is the largest",
    example: "which file in src is the largest?",
    wordings: [
      `(?:which|what)(?: of)?(?: the)? (?<scope>(?:\\S+ )?files?(?: (?:in|of|under) .+?)?) (?:is|are)(?: the)? ${MOST}(?: one)?(?: in (?<place>.+))?`,
      `(?:${ASK} )?(?:the )?${MOST} (?<scope>(?:\\S+ )?files?)(?: in (?<place>.+))?`,
    ],
    toStep: (parts) => onScope(parts, (scope) => rankFiles(scope, parts["word"] ?? "")),
  },
  {
    name: "compare sizes",
    pattern: "how big is <file or folder> | compare <file> and <file>",
    example: "compare the sizes of src and test",
    wordings: [
      "how (?:big|large|small) (?:is|are) (?<file>.+)|(?:what is )?(?:the |its )size(?: of (?<file2>.+))?",
      "(?:compare|which(?: one| file| folder)? is (?:bigger|larger|smaller)[,:]?)(?: (?:the )?sizes? of)? (?<file>.+)",
    ],
    toStep: ({ file, file2 = "it" }) => onFiles(file ?? file2, measure),
  },
  {
    name: "explain",
    pattern: "what is <file or folder> for | explain <file>",
    example: "what is package.json for?",
    wordings: [
      "what is(?: the)? (?:purpose|point|use) of (?<file>.+)",
      "what (?:is|are|does|do) (?<file>.+) (?:for|about|do|doing)|what is (?<file2>\\S+\\.\\w+|this \\w+)",
      "(?:explain|describe|summari[sz]e)(?: what)? (?<file>.+?)(?: is for| are for| does| do)?",
    ],
    toStep: ({ file, file2 }) => onFiles(file ?? file2, explain),
  },
  {
    name: "find files",
    pattern: "find <name or glob> [in <folder>] | is there a file called <name>",
    example: "find *.test.ts",
    wordings: [
      `(?:find|list|show|get|search for|look for)(?: all| any)?(?: the| an?)? (?:files?|folders?) (?:named|called|matching|like) (?<name>\\S+)${IN}`,
      `(?:is|are) there (?:an? |any )?(?:files? )?(?:named |called |matching )?(?<name>\\S+?)(?: files?)?${IN}`,
      `(?:find|locate|where is)(?: all| the)?(?: file)? (?<name>\\S*[.*/]\\S*)${IN}`,
      "(?:find|locate) (?<name>[\\w-]+)",
    ],
    toStep: ({ name = "", scope }) => onFiles(scope ?? "here", (places) => findFiles(unquote(name), places)),
  },
  {
    name: "search text",
    pattern: "search for <text> [in <files or folder>] | where is <text> used | which files contain <text>",
    example: 'search for "TODO" in src',
    wordings: [
      "(?:search|grep)(?: in)? (?<scope>.+?) for (?<text>.+)",
      `${SEEK} (?<text>.+) (?:in|under|within|across) (?<scope>.+)`,
      "(?:search|grep|look)(?: for)?(?: the)?(?: text| word| string)? (?<text>.+)|find (?<quoted>\\S+)",
      `where (?:is|are|do we use|do i use) (?<text>.+?)(?: (?:used|called|mentioned|defined|declared))?${IN}`,
      `(?:which|what) (?<scope>(?:\\S+ )?files?(?: in \\S+)?) (?:contains?|mentions?|uses?|includes?|imports?|have|has) (?<text>.+)`,
      `find(?: all| the)* (?:uses|usages|mentions|occurrences) of (?<text>.+?)${IN}`,
    ],
    toStep: (parts) => toSearch(parts, false),
  },
  {
    name: "list files",
    pattern: "list the [.ts] files [in <folder>] | what is in <folder>",
    example: "list the files in src",
    wordings: [
      `${ASK} (?<scope>(?:all )?(?:the )?(?:\\S+ )?(?:files|folders|directories)(?: .+?)?)(?: are there| there are)?`,
      "(?:what|which) (?<scope>(?:\\S+ )?(?:files|folders|directories)) are(?: there)?(?: in)?(?: (?<place>.+))?",
      "(?:ls|list)(?: (?<place>.+))?|what is in (?<place2>(?:the )?[^\\s.]+(?: folder| directory)?)",
    ],
    toStep: (parts) => onScope(parts, (scope) => listFiles(scope.isDeep || scope.kind !== "file" ? scope : { ...scope, kind: "any" })),
  },
  {
    name: "read a file",
    pattern: "read <file> | show the first <n> lines of <file> | show lines <n> to <m> of <file>",
    example: "show the first 5 lines of README.md",
    wordings: [
      `(?:${ASK} )?(?:the )?(?<end>first|last|top|bottom) (?:(?<n>\\S+) )?lines? (?:of|from|in) (?<file>.+)`,
      `(?:${ASK} )?(?:the )?lines? (?<from>\\d+)(?:(?: ?(?:to|through|-|–|and) ?)(?<to>\\d+))? (?:of|from|in) (?<file>.+)`,
      "(?<end>head|tail) (?:of )?(?<file>.+)",
      "what is in (?<file>.+)|what does (?<file2>.+) (?:say|contain)",
      `${SHOW} (?<file>.+?)(?: back)?`,
    ],
    toStep: toReading,
  },
];

export const taskForms: readonly TaskForm[] = [
  ...forms.map(({ name, pattern, example }) => ({ name, pattern, example })),
  {
    name: "combine",
    pattern:
      "<task> and <task>; “then”, “and then”, “;” and new lines join too, and “it” is what the task before found",
    example: "which file in src is the largest and what is it for?",
  },
];

const INTRODUCTION = `I am the practice model: a planner with a fixed grammar, not an LLM. I need no key, so that everything \
else (the server, streaming, tools, the loop) can be tried at once. For a real model, set a key such as ANTHROPIC_API_KEY=... or \
OPENAI_API_KEY=..., choose with --model provider/model, or run a local server such as Ollama.`;

export function help(): Answer {
  const lines = taskForms.map(({ name, pattern, example }) => `**${name}**: ${pattern}\n  e.g. ${example}`);
  return { text: `${INTRODUCTION}\n\nWhat I understand:\n\n${bullets(lines)}` };
}

function toCalculation({ sum = "", verb, by = "" }: Groups): Step | undefined {
  const sign = { multiply: "*", divide: "/", add: "+" }[verb?.toLowerCase() ?? ""];
  const expression = toExpression(sign === undefined ? sum : `(${sum})${sign}(${by})`);
  if (expression === undefined) return undefined;
  return ({ value = "" }) => {
    if (expression.includes("it") && !/^-?[\d.]+$/.test(value))
      throw new Setback("I have no number to calculate with.");
    const numbers = expression.replaceAll("it", value.startsWith("-") ? `(${value})` : value);
    const { text, isExact } = calculate(numbers);
    return { text: `${numbers} ${isExact ? "=" : "is about"} ${text}`, value: text };
  };
}

function toCommand({ command = "", tests }: Groups): Step | undefined {
  if (tests !== undefined) return runCommand("npm test");
  // Backticks round a part are quotes for me, but the shell would run what is in them.
  const isMixed = restore(command).includes("`") && !isQuoted(command);
  return isMixed ? undefined : runCommand(unquote(command));
}

function toReading({ end, n, from, to, file, file2 }: Groups): Step | undefined {
  const numbers: Groups = { two: "2", three: "3", five: "5", ten: "10", few: "5" };
  const count = Number(numbers[n ?? ""] ?? n ?? (/head|tail/i.test(end ?? "") ? 10 : 1));
  if (!Number.isInteger(count) || count < 1) return undefined;
  const isEnd = /last|bottom|tail/i.test(end ?? "");
  const lines = from === undefined ? { from: 1, to: count } : { from: Number(from), to: Number(to ?? from) };
  const range = isEnd ? { last: count } : end === undefined && from === undefined ? {} : lines;
  return onFiles(file ?? file2, (refs) => readFiles(refs, range));
}

function toSearch({ text = "", quoted, word, scope }: Groups, isCount: boolean): Step | undefined {
  if (quoted !== undefined && /^[\w./-]*(?:\.\w+|\*.*)$/.test(unquote(quoted)))
    return findFiles(unquote(quoted), ["."]);
  const where = toScope(scope ?? "files") ?? toScope(`files in ${scope}`);
  return where && searchText({ text: quoted ?? text, scope: where, isWord: word !== undefined, isCount });
}

function onFiles(words: string | undefined, toStep: (refs: readonly string[]) => Step): Step | undefined {
  const refs = toRefs(words);
  return refs && toStep(refs);
}

function onScope({ scope = "files", place, place2 }: Groups, toStep: (scope: Scope) => Step): Step | undefined {
  const where = place ?? place2;
  const found = toScope(where === undefined ? scope : `${scope} in ${where}`);
  return found && toStep(found);
}
