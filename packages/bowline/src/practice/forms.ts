/** Everything that the practice model understands: one table, tried from top to bottom. */
import { calculate } from "./arithmetic.ts";
import type { Form } from "./form.ts";
import { changeForms } from "./forms-for-changes.ts";
import { fileForms } from "./forms-for-files.ts";
import { searchForms } from "./forms-for-searches.ts";
import { textForms } from "./forms-for-texts.ts";
import { currentFolder, currentTime, runCommand } from "./commands.ts";
import type { Answer } from "./step.ts";

const WHO = "I am the practice model: a fixed grammar, not an LLM.";

const TERM = String.raw`[().\d\s]+`;
const OPERATOR = "(?:[-+*/%^x]|plus|minus|times|divided by)+";
const SIGNS: Readonly<Record<string, string>> = { plus: "+", minus: "-", times: "*", x: "*" };

const talkForms: Readonly<Record<string, Form>> = {
  help: {
    example: "what can you do?",
    wordings: [
      "what can (you|i|this|bowline) (do|say|ask)",
      "[show] (help|commands|examples)",
      "how (do|can) i use (you|this|bowline)",
      "what do you (understand|know)",
    ],
    toStep: () => help,
  },
  greeting: {
    wordings: [
      "(hello|hi|hey|good morning|good afternoon|good evening) [there|bowline|world|everyone]",
      "(who|what) (are you|is this)",
      "what is your name",
      "(which|what) (model|llm|ai) (are you|is this)",
      "are you (real|human|a human|a person|a bot|an ai|an llm|a model|chatgpt|claude|gpt|gemini)",
      "how are you [doing] [today]",
    ],
    toStep: () => () => ({ text: `${WHO}\nSay “help” for all that I understand.` }),
  },
  thanks: {
    wordings: [
      "(thanks|thank you|thx|cheers) [very much|so much|a lot|again] [bowline]",
      "(ok|okay|great|nice|cool|perfect|good|good job|well done|bye|goodbye|good bye|see you)",
    ],
    toStep: () => () => ({ text: "You are welcome." }),
  },
  calculate: {
    example: "what is (2 + 3) * 4.5?",
    wordings: [`[what is|how much is|calculate|compute] <sum:[-+]?${TERM}(?:${OPERATOR}${TERM})+>`],
    toStep: ({ sum = "" }) => {
      const signs = sum
        .replaceAll(/divided by/gi, "/")
        .replaceAll(/plus|minus|times|x/gi, (word) => SIGNS[word.toLowerCase()] ?? word);
      return () => calculate(signs);
    },
  },
};

const machineForms: Readonly<Record<string, Form>> = {
  "date and time": {
    example: "what is the date today?",
    wordings: [
      "what is (date|day|time|date and time|today|today['’]s date) [today|now]",
      "what (day|date|time|year|month) is it [today|now]",
      "[show] (date|time)",
      "what (day|date|time) it is [today|now]",
    ],
    toStep: () => currentTime,
  },
  "current folder": {
    example: "which folder is this?",
    wordings: [
      "(which|what) (folder|directory) (is this|am i in|are we in|are you in)",
      "what is (current|working|current working) (folder|directory)",
      "(where am i|where are we|pwd)",
    ],
    toStep: () => currentFolder,
  },
  "run a command": {
    example: "run `npm -v`",
    wordings: ["(run|execute) [command] <command>"],
    toStep: ({ command = "" }) => runCommand(command),
  },
};

export const forms: Readonly<Record<string, Form>> = {
  ...talkForms,
  ...machineForms,
  ...changeForms,
  ...fileForms,
  ...searchForms,
  ...textForms,
};

/** All forms, and the way to combine them, for the help and the documentation. */
export const taskForms: readonly { readonly name: string; readonly example: string }[] = [
  ...Object.entries(forms).flatMap(([name, { example }]) =>
    example === undefined ? [] : [{ name, example }],
  ),
  { name: "combine", example: "which file in src is the largest and what is it for?" },
];

function help(): Answer {
  const lines = taskForms.map(({ name, example }) => `- ${name}: ${example}`).join("\n");
  const text = `${WHO} I need no key, so that everything else (the server, streaming, tools, the loop) can be tried at once. \
For a real model, set a key such as ANTHROPIC_API_KEY=... or OPENAI_API_KEY=..., choose with --model provider/model, or run a \
local server such as Ollama.

What I understand, with an example each:\n\n${lines}`;
  return { text };
}
