/** From what a person wrote to the steps of a task. */
import { forms, help } from "./forms.ts";
import { protect, restore, toPhrase, toRefs, withoutQuotes } from "./phrase.ts";
import type { Step } from "./step.ts";

/** A step, with the name of its form and the words it was read from. */
export interface Task {
  readonly form: string;
  readonly text: string;
  readonly step: Step;
}

/** So much text outside of quotes, and in all, is looked at: no message makes the patterns slow. */
const MAX_LENGTH = 2000;
const MAX_MESSAGE = 200_000;
/** Where a phrase may be cut in two; so many joining words may be within one step. */
const JOINER = /\s*[;\n]\s*|[.,]\s+|\s+(?:and|then)\s+/gi;
const MAX_JOINERS = 12;

const readings = Object.entries(forms).flatMap(([name, { wordings, toStep }]) =>
  wordings.map((wording) => ({ name, toStep, pattern: toPattern(wording) })),
);

/**
 * The notation is told at `Form.wordings`. The phrase is matched with a space before it, so that
 * every word has one.
 */
function toPattern(wording: string): RegExp {
  const source = ` ${wording}`
    .replaceAll(/<(\w+)(?::([^>]+))?>/g, (_, name: string, own = ".+?") => `(?<${name}>${own})`)
    .replaceAll(/ \[([^\]]+)\]/g, "(?: (?:$1))?")
    .replaceAll(/(what|which|where) is\b/g, "$1(?: is| are|['’]s)")
    .replaceAll(" ", String.raw`\s+`);
  return new RegExp(`^${source}$`, "is");
}

/** The steps of a message; one that lists the task forms if it is none of them. */
export function parseTask(message: string): readonly Task[] {
  const text = message.length > MAX_MESSAGE ? "" : protect(message);
  const tasks =
    withoutQuotes(text).length > MAX_LENGTH ? undefined : parseAll(toPhrase(text), new Map());
  if (tasks !== undefined) return tasks;
  const said = message.trim().slice(0, 200);
  const lead = said === "" ? "" : `I do not understand “${said}”.\n\n`;
  return [{ form: "unknown", text: said, step: () => ({ text: lead + help().text }) }];
}

/**
 * As many steps as the joining words allow, else one. `known` keeps the time from doubling with
 * each joining word.
 */
function parseAll(
  phrase: string,
  known: Map<string, readonly Task[] | undefined>,
): readonly Task[] | undefined {
  if (known.has(phrase)) return known.get(phrase);
  let tasks: readonly Task[] | undefined;
  for (const { index, 0: joiner } of [...phrase.matchAll(JOINER)].slice(0, MAX_JOINERS)) {
    const first = parseOne(toPhrase(phrase.slice(0, index)));
    const rest = first && parseAll(toPhrase(phrase.slice(index + joiner.length)), known);
    tasks ??= rest && [first, ...rest];
  }
  const one = parseOne(phrase);
  tasks ??= one && [one];
  known.set(phrase, tasks);
  return tasks;
}

function parseOne(phrase: string): Task | undefined {
  for (const { name, toStep, pattern } of readings) {
    const match = pattern.exec(` ${phrase}`);
    const refs = match === null ? undefined : toRefs(match.groups?.["place"]);
    if (refs !== undefined)
      return { form: name, text: restore(phrase), step: toStep(match?.groups ?? {}, refs) };
  }
  return undefined;
}
