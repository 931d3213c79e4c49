/** Parses a person's message into the steps of a task. */
import { forms, hint } from "./forms.ts";
import { markFiller, toPattern, withoutMarks } from "./pattern.ts";
import { protect, restore, toPhrase, toRefs, withoutQuotes } from "./phrase.ts";
import type { Step } from "./step.ts";

/** A step, with the name of its form and the words it came from. */
export interface Task {
  readonly form: string;
  readonly text: string;
  readonly step: Step;
}

/** Longest text outside of quotes, and in all. The limits keep the patterns fast. */
const MAX_LENGTH = 1000;
const MAX_MESSAGE = 200_000;
/** Places where a phrase may be split, and how many of them are tried. */
const JOINER = /\s*[;\n]\s*|[.,]\s+|\s+(?:and|then)\s+/gi;
const MAX_JOINERS = 12;

const readings = Object.entries(forms).flatMap(([name, { wordings, toStep }]) =>
  wordings.map((wording) => ({ name, toStep, pattern: toPattern(wording) })),
);

/**
 * A file that is read only as the subject of a question: "read a.txt and tell me what it is for".
 */
const READ_FIRST =
  /^(?:read|open|look at|look into|check)\s+(?:the\s+)?(?:file\s+)?(?<ref>\S+?),?\s+and\s+(?:then\s+)?(?<rest>(?:tell me|say|explain|describe|summari[sz]e)\s.*)$/is;
/** A place before the question: "in src, which file …". */
const PLACE_FIRST =
  /^(?:in|inside|within)\s+(?<place>(?:the\s+)?\S+?(?:\s+folder)?),?\s+(?<rest>\S+\s.*)$/is;

/** Returns the steps of a message, or one step that says what was not understood. */
export function parseTask(message: string): readonly Task[] {
  const text = message.length > MAX_MESSAGE ? "" : protect(message);
  const phrase = withoutQuotes(text).length > MAX_LENGTH ? "" : text.trim();
  const known = new Map<string, readonly Task[] | undefined>();
  const tasks = parseAll(aboutOne(toPhrase(phrase)), known) ?? parseWhole(phrase);
  if (tasks !== undefined) return tasks;
  const said = shorten(message);
  return [{ form: "unknown", text: said, step: () => ({ text: refusal(phrase, said, known) }) }];
}

/** Tries the phrase as it is, for messages that are only a greeting. */
function parseWhole(phrase: string): readonly Task[] | undefined {
  const task = parseOne(phrase.replace(/[\s.!?,]+$/, ""));
  return task && [task];
}

function aboutOne(phrase: string): string {
  const { ref, rest = "" } = READ_FIRST.exec(phrase)?.groups ?? {};
  const about = rest.replace(/\b(?:it|this|that)\b/i, () => ref ?? "");
  return ref === undefined || about === rest ? phrase : toPhrase(about);
}

/** Returns two lines: what was understood, and what to try. */
function refusal(
  phrase: string,
  said: string,
  known: Map<string, readonly Task[] | undefined>,
): string {
  const whole = toPhrase(phrase);
  for (const { index, 0: joiner } of joinersOf(whole).toReversed()) {
    const first = parseAll(toPhrase(whole.slice(0, index)), known);
    if (first === undefined) continue;
    const [done, rest] = [whole.slice(0, index), whole.slice(index + joiner.length)];
    return `I understand “${shorten(restore(done))}”, not “${shorten(restore(rest))}”, and did nothing.\n${hint}`;
  }
  if (said === "") return hint;
  const path = /(?<![\w./-])[\w./-]*\w\.[a-z]\w{0,4}(?![\w/])/i.exec(withoutQuotes(phrase))?.[0];
  const about = path === undefined ? "" : ` I see the file ${path}, not what to do with it.`;
  return `I do not understand “${said}”.${about}\n${hint}`;
}

function shorten(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length > 120 ? `${line.slice(0, 120)} …` : line;
}

function joinersOf(phrase: string): RegExpExecArray[] {
  return [...phrase.matchAll(JOINER)].slice(0, MAX_JOINERS);
}

/**
 * Splits the phrase into as many steps as possible. `known` memoises, so that the time does not
 * double with each joining word.
 */
function parseAll(
  phrase: string,
  known: Map<string, readonly Task[] | undefined>,
): readonly Task[] | undefined {
  if (known.has(phrase)) return known.get(phrase);
  let tasks: readonly Task[] | undefined;
  for (const { index, 0: joiner } of joinersOf(phrase)) {
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
  const { place, rest } = PLACE_FIRST.exec(phrase)?.groups ?? {};
  return parseForm(phrase) ?? (rest === undefined ? undefined : parseForm(`${rest} in ${place}`));
}

function parseForm(phrase: string): Task | undefined {
  const marked = markFiller(phrase);
  for (const { name, toStep, pattern } of readings) {
    const match = pattern.exec(marked);
    if (match === null) continue;
    const parts = Object.fromEntries(
      Object.entries(match.groups ?? {}).map(([key, part]) => [key, part && withoutMarks(part)]),
    );
    const refs = toRefs(parts["place"]);
    if (refs !== undefined) return { form: name, text: restore(phrase), step: toStep(parts, refs) };
  }
  return undefined;
}
