/** The task forms: what the help calls them, the wordings they accept, and the step that each becomes. */
import { calculate, toExpression } from "./arithmetic.ts";
import { appendText, replaceText, runCommand, writeFile } from "./changes.ts";
import { countLines, explain, readFiles, searchText } from "./contents.ts";
import type { Search } from "./contents.ts";
import { countFiles, findFiles, listFiles, measure, rankFiles, toScope } from "./files.ts";
import { isQuoted, protect, restore, toCuts, toPhrase, toRefs, unquote } from "./phrase.ts";
import { Setback } from "./step.ts";
import type { Step } from "./step.ts";
import { bullets } from "./wording.ts";

export interface TaskForm {
  readonly name: string;
  /** The wording; what is in [ ] may be left out, < > stands for a name or text. */
  readonly pattern: string;
  readonly example: string;
}

/** A step, with the words it was read from. */
export interface Task {
  readonly form: string;
  readonly text: string;
  readonly step: Step;
}

type Groups = Readonly<Record<string, string | undefined>>;
/** A wording as a regular expression, where a space is any white space, and its step unless its parts make no sense. */
type Reading = readonly [wording: string, toStep: (groups: Groups) => Step | undefined];

const IN = "(?: (?:in|inside|within|under|across) (?<scope>.+?))?";
const SHOW = "(?:show|list|find|name|give|tell|get|print|display|read|open|cat|view|see|what is|which is)(?: me| us)?";
const MOST = "(?<word>largest|biggest|smallest|tiniest)";
const MADE = "(?:create|make|write|add)(?: an?| the)?(?: new| empty)*(?: file)?(?: called| named)?";

const FORMS: readonly (TaskForm & { readonly readings: readonly Reading[] })[] = [
  {
    name: "help",
    pattern: "who are you | what can you do | help",
    example: "what can you do?",
    readings: [
      ["(?:help|hello|hi|hey|thanks|thank you)(?: there| me)?|(?:who|what) are you.*|what can (?:you|i) (?:do|ask).*", () => help],
    ],
  },
  {
    name: "calculate",
    pattern: "[what is] <numbers with + - * / % ^ and ( )>",
    example: "what is (2 + 3) * 4.5?",
    readings: [
      ["(?:what is |how much is |calculate |compute |evaluate |work out )?(?<sum>.+)", ({ sum }) => toSum(sum)],
      ["multiply (?<sum>.+) (?:by|with) (?<by>.+)", ({ sum, by }) => toSum(`(${sum}) * (${by})`)],
      ["divide (?<sum>.+) by (?<by>.+)", ({ sum, by }) => toSum(`(${sum}) / (${by})`)],
    ],
  },
  {
    name: "run a command",
    pattern: "run <command>",
    example: "run `npm -v`",
    readings: [
      ["run (?:all )?(?:the |my )?tests?", () => runCommand("npm test")],
      ["(?:(?:run|execute)(?: the)?(?: shell)?(?: command)?:?|\\$) (?<command>.+)", ({ command = "" }) => toCommand(command)],
    ],
  },
  {
    name: "append to a file",
    pattern: "append <text> to <file>",
    example: 'append "one more line" to notes.txt',
    readings: [
      ["(?:append|add)(?: the)?(?: lines?| text)? (?<text>.+) (?:to|at)(?: the (?:end|bottom) of)? (?<file>.+)", ({ text = "", file }) => withRefs(file, (refs) => appendText(text, refs))],
    ],
  },
  {
    name: "write a file",
    pattern: "write <text> to <file> | create <file> [with <text>]",
    example: 'write "hello" to notes.txt',
    readings: [
      ["(?:write|save|put|store)(?: (?:this|the following))?(?: text)? (?:to|into|in) (?<file>\\S+): ?(?<text>.+)", toWrite],
      ["(?:write|save|put|store|copy) (?<text>.+) (?:to|into|in|as) (?<file>.+)", toWrite],
      [`${MADE} (?<file>\\S+?)(?: (?:with|containing|that says)(?: the)?(?: contents?| text)?:? (?<text>.+))?`, toWrite],
    ],
  },
  {
    name: "replace text",
    pattern: "replace <text> with <text> in <file> | remove <text> from <file>",
    example: "replace colour with color in notes.txt",
    readings: [
      ["(?:replace|change|rename|substitute|swap)(?: (?:all|every|each|the)\\b)*(?: (?:text|word|name|string|occurrences of))? (?<from>.+?) (?:with|by|to|into|for) (?<to>.+) (?:everywhere )?in (?<file>.+)", toReplace],
      ["in (?<file>\\S+),? (?:replace|change|rename) (?<from>.+?) (?:with|by|to|into) (?<to>.+)", toReplace],
      ["(?:remove|delete)(?: the)?(?: text| word)? (?<from>.+) (?:from|in) (?<file>.+)", toReplace],
    ],
  },
  {
    name: "count occurrences",
    pattern: "how often does <text> occur in <file or folder>",
    example: 'how many times does the word "agent" occur in README.md?',
    readings: [
      [`how (?:many times|often) (?:does|do|is|are)(?: the)? (?<kind>word )?(?<text>.+?) (?:occurs?|appears?|used|mentioned|found)${IN}`, (groups) => toSearch(groups, true)],
      [`(?:how many|count)(?: all)?(?: the)?(?: number of)? (?:occurrences|uses|mentions) of(?: the)? (?<kind>word )?(?<text>.+?)(?: are there)?${IN}`, (groups) => toSearch(groups, true)],
    ],
  },
  {
    name: "count lines",
    pattern: "how many lines does <file> have",
    example: "how many lines does README.md have?",
    readings: [
      ["(?:how many|count)(?: the| its)?(?: number of)? lines(?: of code)?(?: are| does| do| has| have)?(?: there)?(?: (?:in|of))?(?: (?<file>.+?))?(?: have| has| contain)?", ({ file = "it" }) => withRefs(file, countLines)],
      ["how long is (?<file>.+)", ({ file }) => withRefs(file, countLines)],
    ],
  },
  {
    name: "count files",
    pattern: "how many [.ts] files are in <folder>",
    example: "how many .md files are in docs?",
    readings: [
      ["(?:how many|count)(?: all)?(?: the)?(?: number of)? (?<sort>(?:\\S+ )?(?:files|folders|directories))(?: (?:are|do|does|has|have))?(?: there)?(?: in)?(?: (?<place>.+?))?(?: have| contain)?", ({ sort, place }) => withScope(place === undefined ? sort : `${sort} in ${place}`, countFiles)],
    ],
  },
  {
    name: "largest or smallest file",
    pattern: "which file in <folder> is the largest | the 3 smallest .ts files in <folder>",
    example: "which file in src is the largest?",
    readings: [
      [`(?:which|what)(?: is| one)?(?: of)? (?<scope>(?:the )?(?:\\S+ )?files?(?: .+?)?) (?:is|are)(?: the)? ${MOST}(?: (?:one|file))?(?: in (?<place>.+))?`, toRank],
      [`(?:${SHOW} )?(?:the )?(?<most>\\d+ )?${MOST} (?<scope>(?:\\S+ )?files?(?: .+)?)`, toRank],
    ],
  },
  {
    name: "compare sizes",
    pattern: "how big is <file or folder> | compare <file> and <file>",
    example: "compare the sizes of src and test",
    readings: [
      ["(?:how (?:big|large|small) (?:is|are)|(?:what is |compare )?(?:the |its )?sizes?(?: of)?|compare|which(?: one| file| folder)? is (?:bigger|larger|smaller)[,:]?)(?: (?<file>.+))?", ({ file = "it" }) => withRefs(file, measure)],
    ],
  },
  {
    name: "explain",
    pattern: "what is <file or folder> for | explain <file>",
    example: "what is package.json for?",
    readings: [
      ["what is (?:the )?(?:purpose|point|use) of (?<file>.+)", ({ file }) => withRefs(file, explain)],
      ["what (?:is|are|does|do|'s) (?<file>.+) (?:for|about|do|doing)", ({ file }) => withRefs(file, explain)],
      ["(?:explain|describe|summari[sz]e)(?: what)? (?<file>.+?)(?: (?:is|are|does)(?: for)?)?", ({ file }) => withRefs(file, explain)],
    ],
  },
  {
    name: "find files",
    pattern: "find <name or glob> [in <folder>]",
    example: "find *.test.ts",
    readings: [
      [`(?:find|list|show|get|search for|look for)(?: me)?(?: all| any| every)?(?: the| an?)? (?:files?|folders?) (?:named|called|matching|like) (?<name>\\S+)${IN}`, toFind],
      [`(?:is|are) there (?:an? |any )?(?:files? )?(?:named |called |matching )?(?<name>\\S+?)(?: files?)?${IN}`, toFind],
      [`(?:find|locate|where is)(?: me)?(?: all| any)?(?: the)?(?: file)? (?<name>\\S+)${IN}`, (groups) => (/[.*?/]/.test(unquote(groups["name"] ?? "")) || /^find|locate/.test("") ? toFind(groups) : undefined)],
    ],
  },
];
