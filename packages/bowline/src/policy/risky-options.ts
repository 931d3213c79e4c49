/**
 * Finds options that write files or run programs. A rule that ends in a star was written for the
 * harmless ones, so a call with such an option is asked about. A rule that names the option itself,
 * or the whole command, covers it.
 *
 * The table cannot be complete: a program that is not in it is judged by the common names only.
 */
import { nameOfProgram, programOf } from "./command-words.ts";
import { commonOptions, risks, runsScript, type Risk } from "./program-risks.ts";

const common: ReadonlySet<string> = new Set(commonOptions.split(" ").map(plain));

/** Words after a program that only print something, if nothing else follows. */
const ABOUT = /^(?:--version|--help|-[vVh])$/;

/**
 * Returns why an open rule does not cover a command, or undefined if it does. `fixed` is the number
 * of words at the beginning that the rule names.
 */
export function whyRisky(words: readonly string[], fixed: number): string | undefined {
  const program = programOf(words[0] ?? "");
  const name = knownName(program);
  const risk = riskOf(name);
  const extra = words.slice(Math.max(fixed, 1));
  const isScript = runsScript.has(name) && fixed > 1 && words[1]?.startsWith("-") === false;
  if (risk.isInterpreter === true && words.length > fixed && !isScript)
    return `${program} can run what stands in its arguments`;
  const command = whyCommand(words, { fixed, risk, name, program });
  if (command !== undefined) return command;
  const own = riskOf(`${name} ${words[1] ?? ""}`);
  const option =
    extra.find((word) => isRisky(word, risk) || isRisky(word, own)) ?? unlisted(words, fixed, risk);
  if (option !== undefined) return `${option} can write files or run programs`;
  const variable = risk.hasVariables && extra.find((word) => word.includes("="));
  if (variable !== undefined) return `${variable} can run programs`;
  const host = risk.hasHosts && extra.find((word) => /^[^/]*:/.test(word));
  if (host !== undefined) return `${host} can be on another machine`;
  const evaluated = extra.find((word) => /\$\(|`/.test(word));
  if (evaluated !== undefined) return "an argument contains a command that bash builtins evaluate";
  const { operands = Infinity } = risk;
  if (operandsOf(words).length > operands) return `the second file of ${program} is written`;
  return undefined;
}

interface Named {
  readonly fixed: number;
  readonly risk: Risk;
  readonly name: string;
  readonly program: string;
}

/** Judges the command of a program that has commands, such as `git clone`. */
function whyCommand(
  words: readonly string[],
  { fixed, risk, name, program }: Named,
): string | undefined {
  const [, first] = words;
  if (fixed < 2 && first !== undefined && (risk.known !== undefined || name === "git")) {
    const isAbout = words.length === 2 && ABOUT.test(first);
    if (first.startsWith("-") && !isAbout)
      return `${first} before the name of ${program}'s command can run programs`;
    if (!isAbout && !has(risk.known, first))
      return `${program} ${first} can run programs, and needs a rule that names it`;
  }
  const command = fixed > 1 ? undefined : words.slice(1).find((word) => has(risk.commands, word));
  if (command !== undefined) return `${program} ${command} can run programs`;
  const own = riskOf(`${name} ${first ?? ""}`);
  const inner = words.slice(Math.max(fixed, 2)).find((word) => has(own.commands, word));
  if (inner !== undefined) return `${program} ${first} ${inner} needs a rule that names it`;
  if (own.reading !== undefined && !words.some((word) => has(own.reading, word)))
    return `${program} ${first} changes settings that can run programs`;
  return undefined;
}

function riskOf(name: string): Risk {
  return Object.hasOwn(risks, name) ? (risks[name] as Risk) : {};
}

/** Returns the name in the table: a version at the end is left out if it has to be. */
function knownName(program: string): string {
  return Object.hasOwn(risks, program) ? program : nameOfProgram(program);
}

/** Returns an option that is not listed as harmless, if the program has such a list. */
function unlisted(
  words: readonly string[],
  fixed: number,
  { harmless, hasBareLetters }: Risk,
): string | undefined {
  if (harmless === undefined) return undefined;
  const { letters, valued, names, endsAtOperand } = harmless;
  for (const [at, word] of words.entries()) {
    if (at === 0) continue;
    const isBare = hasBareLetters === true && at === 1 && !word.startsWith("-");
    if (!isBare && !/^-./.test(word)) {
      if (endsAtOperand === true) return undefined;
      continue;
    }
    if (at < fixed) continue;
    if (word.startsWith("--")) {
      const [name = ""] = word.slice(2).split("=");
      const isListed = has(names, name) || (word.includes("=") && has(names, `${name}=`));
      if (word !== "--" && !isListed) return word;
      continue;
    }
    for (const letter of isBare ? word : word.slice(1)) {
      if (!letters.includes(letter) && !valued.includes(letter)) return word;
      if (!isBare && valued.includes(letter)) break;
    }
  }
  return undefined;
}

/** Returns the words that are no options, such as files. A lone dash stands for a file. */
function operandsOf(words: readonly string[]): readonly string[] {
  const end = words.indexOf("--");
  return words.filter((word, at) => {
    if (at === 0 || at === end) return false;
    return (end !== -1 && at > end) || word === "-" || !word.startsWith("-");
  });
}

function has(names: string | undefined, word: string): boolean {
  return word !== "" && names?.split(" ").includes(word) === true;
}

function isRisky(word: string, { letters = "", options = "", words }: Risk): boolean {
  const [name = ""] = word.replace(/^-+/, "").split("=");
  if (!word.startsWith("-") || name === "") return false;
  if (has(words, name)) return true;
  const long = plain(name);
  if (name.length > 1 && common.has(long)) return true;
  if (word.startsWith("--"))
    return options.split(" ").some((known) => known !== "" && plain(known).startsWith(long));
  return Array.from(letters).some((letter) => word.includes(letter));
}

/** Programs read `--testRunner`, `--test-runner` and `--test_runner` alike. */
function plain(name: string): string {
  return name.toLowerCase().replace(/[-_]/g, "");
}

/** Returns true if a program runs or evaluates its arguments. */
export function isInterpreter(program: string): boolean {
  return riskOf(knownName(program)).isInterpreter === true;
}
