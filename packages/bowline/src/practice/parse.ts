/** Parses a person's message into the steps of a task. */
import { forms } from "./forms.ts";
import { markFiller, toPattern, withoutMarks } from "./pattern.ts";
import { protect, restore, toPhrase, toRefs, withoutQuotes } from "./phrase.ts";
import { nearestExample, knownWords } from "./nearest.ts";
import { mendWords } from "./spelling.ts";
import { Setback } from "./step.ts";
import type { Step } from "./step.ts";
import { refuse, shorten } from "./wording.ts";

/** A step, with the name of its form and the words it came from. */
export interface Task {
  readonly form: string;
  readonly text: string;
  readonly step: Step;
  /** The reason to refuse the step, if it is known before the task starts. */
  readonly refusal?: string;
}

/**
 * Maximum length of the text outside quotes, and of the whole message, in UTF-16 units. The limits
 * keep the patterns fast.
 */
const MAX_LENGTH = 1000;
const MAX_MESSAGE = 200_000;
/** Places where a phrase may be split, and the maximum number of them to try. */
const JOINER = /\s*[;\n]\s*|[.,]\s+|\s+(?:and|then)\s+/gi;
const MAX_JOINERS = 12;

const readings = Object.entries(forms).flatMap(([name, { wordings, toStep }]) =>
  wordings.map((wording) => ({ name, toStep, pattern: toPattern(wording) })),
);

/**
 * A request to read a file and explain it. It is one question: "read a.txt and tell me what it is
 * for".
 */
const READ_FIRST =
  /^(?:read|open|look at|look into|check)\s+(?:the\s+)?(?:file\s+)?(?<ref>\S+?),?\s+and\s+(?:then\s+)?(?<rest>(?:tell me|say|explain|describe|summari[sz]e)\s.*)$/is;
/** A place before the question: "in src, which file …". */
const PLACE_FIRST =
  /^(?:in|inside|within)\s+(?<place>(?:the\s+)?\S+?(?:\s+folder)?),?\s+(?<rest>\S+\s.*)$/is;

/**
 * A request to create a file and fill it. It is one step, so that it never ends with an empty file.
 */
const MAKE_AND_FILL =
  /^(?<make>(?:create|make|touch|add|start)\s.+?),?\s+(?:and|then|and then)\s+(?:put|write|add|insert|place|store)\s+(?<text>\S.*?)\s+(?:in|into|inside|to)\s+(?:it|there|(?:that|this|the)\s+file)$/is;
/** Parts that hold the person's own words. The message must contain these words unchanged. */
const OWN = [
  "place",
  "within",
  "text",
  "literal",
  "something",
  "content",
  "loose",
  "name",
  "oldText",
  "newText",
  "field",
  "command",
];

type Known = Map<string, readonly Task[] | undefined>;

/**
 * Returns the steps of a message. If a step is refused, returns only that step. If the message is
 * not understood, returns one step that says so.
 */
export function parseTask(message: string): readonly Task[] {
  const text = message.length > MAX_MESSAGE ? "" : protect(message);
  const phrase = withoutQuotes(text).length > MAX_LENGTH ? "" : text.trim();
  const known: Known = new Map();
  const tasks = parseMessage(phrase, message, known);
  // Do all of a task or nothing: refuse an impossible step before the first step runs.
  const refused = tasks?.find((task) => task.refusal !== undefined);
  if (tasks !== undefined) return refused === undefined ? tasks : [refused];
  const step: Step = () => ({ text: refusal(phrase, message, known) });
  return [{ form: "unknown", text: shorten(message, 120), step }];
}

function parseMessage(phrase: string, message: string, known: Known): readonly Task[] | undefined {
  const whole = asOneStep(toPhrase(phrase));
  const tasks = parseAll(whole, message, known) ?? parseWhole(phrase, message);
  const mended = mendWords(toPhrase(phrase), knownWords);
  if (tasks !== undefined || mended === toPhrase(phrase)) return tasks;
  return parseAll(asOneStep(toPhrase(mended)), message, new Map());
}

/** Parses the phrase with its polite words, because a message may be only a greeting. */
function parseWhole(phrase: string, message: string): readonly Task[] | undefined {
  const task = parseOne(phrase.replace(/[\s.!?,]+$/, ""), message);
  return task && [task];
}

function asOneStep(phrase: string): string {
  const { make, text = "" } = MAKE_AND_FILL.exec(phrase)?.groups ?? {};
  if (make !== undefined) return `${make} with ${text} in it`;
  const { ref, rest = "" } = READ_FIRST.exec(phrase)?.groups ?? {};
  const about = rest.replace(/\b(?:it|this|that)\b/i, () => ref ?? "");
  return ref === undefined || about === rest ? phrase : toPhrase(about);
}

/** Returns two lines: what was not understood, and what to try instead. */
function refusal(phrase: string, message: string, known: Known): string {
  const whole = toPhrase(phrase);
  const said = shorten(message, 56);
  if (said === "") return refuse("I am the practice model: a fixed grammar, not an LLM.", HELP);
  for (const { index, 0: joiner } of joinersOf(whole).toReversed()) {
    const first = parseAll(toPhrase(whole.slice(0, index)), message, known);
    if (first === undefined || first.some((task) => task.refusal !== undefined)) continue;
    const [done, rest] = [whole.slice(0, index), whole.slice(index + joiner.length)];
    const [left, right] = [done, rest].map((part) => shorten(restore(part), 18));
    return refuse(`I understand “${left}”, not “${right}”, and did nothing.`, HELP);
  }
  const path = /(?<![\w./-])[\w./-]*\w\.[a-z]\w{0,4}(?![\w/])/i.exec(withoutQuotes(phrase))?.[0];
  const example = path === undefined ? nearestExample(phrase) : `show ${path}`;
  const instead = example === undefined ? HELP : `The nearest that I can do: ${example}`;
  return refuse(`I do not understand “${said}”.`, instead);
}

const HELP = "A fixed grammar, not an LLM, reads you. Say “help” for all that it knows.";

function joinersOf(phrase: string): RegExpExecArray[] {
  return [...phrase.matchAll(JOINER)].slice(0, MAX_JOINERS);
}

/**
 * Splits the phrase into as many steps as its joining words allow. Prefers a reading that can be
 * done to one that is refused. `known` caches the results by phrase; without it, the time would
 * double with each joining word.
 */
function parseAll(phrase: string, message: string, known: Known): readonly Task[] | undefined {
  if (known.has(phrase)) return known.get(phrase);
  const found: (readonly Task[])[] = [];
  for (const { index, 0: joiner } of joinersOf(phrase)) {
    const first = parseOne(toPhrase(phrase.slice(0, index)), message);
    const rest = first && parseAll(toPhrase(phrase.slice(index + joiner.length)), message, known);
    if (first !== undefined && rest !== undefined) found.push([first, ...rest]);
  }
  const one = parseOne(phrase, message);
  if (one !== undefined) found.push([one]);
  const tasks =
    found.find((each) => each.every((task) => task.refusal === undefined)) ?? found.at(-1);
  known.set(phrase, tasks);
  return tasks;
}

function parseOne(phrase: string, message: string): Task | undefined {
  const { place, rest } = PLACE_FIRST.exec(phrase)?.groups ?? {};
  const task = parseForm(phrase, message);
  return task ?? (rest === undefined ? undefined : parseForm(`${rest} in ${place}`, message));
}

function parseForm(phrase: string, message: string): Task | undefined {
  const marked = markFiller(phrase);
  for (const { name, toStep, pattern } of readings) {
    const match = pattern.exec(marked);
    if (match === null) continue;
    const parts = Object.fromEntries(
      Object.entries(match.groups ?? {}).map(([key, part]) => [key, part && withoutMarks(part)]),
    );
    const refs = toRefs(parts["place"]);
    const isOwn = OWN.every((key) => isSaid(parts[key], message));
    if (refs === undefined || !isOwn) continue;
    const task = { form: name, text: restore(phrase) };
    try {
      return { ...task, step: toStep({ ...parts, message }, refs) };
    } catch (error) {
      if (!(error instanceof Setback)) throw error;
      const { message: said } = error;
      return { ...task, step: () => ({ text: said }), refusal: said };
    }
  }
  return undefined;
}

/** Returns true if the message contains every word of the part as it was typed. */
function isSaid(part: string | undefined, message: string): boolean {
  if (part === undefined) return true;
  const words = restore(part).split(/\s+/);
  return words.every((word) => message.includes(word));
}
