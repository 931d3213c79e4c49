/** From what a person wrote to the steps of a task. */
import { forms, help } from "./forms.ts";
import { protect, restore, toCuts, toPhrase, withoutQuotes } from "./phrase.ts";
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
/** Joining words within one step. */
const MAX_JOINERS = 12;

const readings = forms.flatMap(({ name, wordings, toStep }) =>
  wordings.map((wording) => ({ name, toStep, pattern: toPattern(wording) })),
);

/** The notation is told at `Form.wordings`. */
function toPattern(wording: string): RegExp {
  const source = wording
    .replaceAll(/\((?!\?)/g, "(?:")
    .replaceAll(
      /<(\w+)(\+?)(?::([^>]+))?>/g,
      (_, name: string, most: string, own = most ? ".+" : ".+?") => `(?<${name}>${own})`,
    )
    .replace(/^(?:\[[^\]]+\] )+/, (run) => run.replaceAll(/\[([^\]]+)\] /g, "(?:(?:$1) )?"))
    .replaceAll(/ \[([^\]]+)\]/g, "(?: (?:$1))?")
    .replaceAll(/(what|which|where) is\b/g, "$1(?: is| are|['’]s)")
    .replaceAll(" ", String.raw`\s+`);
  return new RegExp(`^${source}$`, "is");
}

/** The steps of a message; one that lists the task forms if it is none of them. */
export function parseTask(message: string): readonly Task[] {
  const phrase = message.length > MAX_MESSAGE ? "" : toPhrase(protect(message));
  const tasks = withoutQuotes(phrase).length > MAX_LENGTH ? undefined : parseAll(phrase, new Map());
  if (tasks !== undefined) return tasks;
  const said = message.trim().slice(0, 200);
  const lead = said === "" ? "" : `I do not understand “${said}”.\n\n`;
  return [{ form: "unknown", text: said, step: () => ({ text: lead + help().text }) }];
}

/** As many steps as the joining words allow, else one. `known` keeps the time from doubling with each joining word. */
function parseAll(phrase: string, known: Map<string, readonly Task[] | undefined>): readonly Task[] | undefined {
  if (known.has(phrase)) return known.get(phrase);
  const one = parseOne(phrase);
  let tasks = one && [one];
  for (const { left, right } of toCuts(phrase).slice(0, MAX_JOINERS)) {
    const first = parseOne(toPhrase(left));
    const rest = first && parseAll(toPhrase(right), known);
    if (first === undefined || rest === undefined) continue;
    tasks = [first, ...rest];
    break;
  }
  known.set(phrase, tasks);
  return tasks;
}

function parseOne(phrase: string): Task | undefined {
  for (const { name, toStep, pattern } of readings) {
    const match = pattern.exec(phrase);
    const step = match === null ? undefined : toStep(match.groups ?? {});
    if (step !== undefined) return { form: name, text: restore(phrase), step };
  }
  return undefined;
}
