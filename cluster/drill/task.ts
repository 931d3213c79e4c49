/**
 * The messages that clients send: each says what the model has to do. A task has groups of tools, one
 * group for each turn, and a number of words for each answer.
 */
import type { Random } from "./seeded.ts";

/** What a call does outside, by the letter in a task. */
export const tools = {
  n: { name: "never", replay: "never", needsApproval: false, isLarge: false },
  s: { name: "safe", replay: "safe", needsApproval: false, isLarge: false },
  a: { name: "asks", replay: "never", needsApproval: true, isLarge: false },
  l: { name: "large", replay: "never", needsApproval: false, isLarge: true },
} as const;

type ToolLetter = keyof typeof tools;

export interface Task {
  /** Unique: the session's name, a dash and a number. */
  readonly name: string;
  /** The tools of each turn. The turn after them is the last. */
  readonly turns: readonly (readonly ToolLetter[])[];
  readonly words: number;
  /** The model's server reports no tokens for answers to it. */
  readonly isUncounted: boolean;
}

/** The fewest words of an answer that streams for several seconds. */
export const LONG_WORDS = 200;

/** The budget of the agent of uncounted tasks: less than the estimated tokens of their answers. */
export const THRIFTY_TOKENS = 300;

// A line of its own: a request may have a note about a cut answer before the message.
const TASK = /^task (\S+) (-|[nsal]+(?:\.[nsal]+)*) (\d+)( uncounted)?$/m;
const ASIDE = /^aside (\S+)$/m;

export function textOf({ name, turns, words, isUncounted }: Task): string {
  const steps = turns.length === 0 ? "-" : turns.map((letters) => letters.join("")).join(".");
  return `task ${name} ${steps} ${words}${isUncounted ? " uncounted" : ""}`;
}

/** A message that steers or follows up. It has no tools. */
export function asideText(name: string): string {
  return `aside ${name}`;
}

export function taskIn(text: string): Task | undefined {
  const [, name, steps = "-", words, uncounted] = TASK.exec(text) ?? [];
  if (name === undefined) return undefined;
  const turns =
    steps === "-" ? [] : steps.split(".").map((group) => group.split("") as ToolLetter[]);
  return { name, turns, words: Number(words), isUncounted: uncounted !== undefined };
}

/** The name of the task or the aside in a message. */
export function nameIn(text: string): string | undefined {
  return taskIn(text)?.name ?? ASIDE.exec(text)?.[1];
}

/** The session of a task or an aside. */
export function sessionIn(name: string): string {
  return name.slice(0, name.lastIndexOf("-"));
}

/** A task whose only answer is a long one. */
export function drawTalk(random: Random, name: string): Task {
  const words = random.between(1.5 * LONG_WORDS, 2 * LONG_WORDS);
  return { name, turns: [], words, isUncounted: false };
}

export function drawTask(random: Random, name: string): Task {
  const isUncounted = random.chance(0.35);
  const count = isUncounted ? 6 : random.between(0, 3);
  const letters = (): ToolLetter[] =>
    Array.from({ length: random.chance(0.3) ? random.between(2, 3) : 1 }, () =>
      random.pick<ToolLetter>(["n", "n", "s", "s", "l", "a"]),
    );
  // Uncounted tasks are about their tokens: several short turns.
  const turns = Array.from({ length: count }, () =>
    isUncounted ? [random.pick<ToolLetter>(["s", "n"])] : letters(),
  );
  const isLong = !isUncounted && random.chance(0.25);
  const words = isLong ? random.between(LONG_WORDS, 2 * LONG_WORDS) : random.between(5, 30);
  return { name, turns, words, isUncounted };
}
