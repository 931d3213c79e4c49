/**
 * A step is a generator: it yields tool calls (one array is one turn, made in parallel) and is resumed with a result for each, so a
 * task of several turns reads from top to bottom. `plan()` replays it against the conversation, hence steps are deterministic.
 */
import { enumerate } from "./wording.ts";

export interface Call {
  readonly name: "read" | "write" | "edit" | "bash" | "grep" | "glob";
  readonly arguments: Readonly<Record<string, string | number | boolean>>;
}

export interface Result {
  readonly state: "ok" | "failed" | "denied";
  readonly text: string;
}

/** What "it" means: the files that the last step was about, and the text or number that it found. */
export interface Subject {
  readonly paths: readonly string[];
  readonly value?: string | undefined;
}

export interface Context extends Subject {
  /** What the step has to say before its answer. */
  readonly notes: string[];
}

/** The text for the person, and the new subject; without paths they stay what they were. */
export interface Answer extends Partial<Subject> {
  readonly text: string;
}

export type Play<T> = Generator<readonly Call[], T, readonly Result[]>;
/** A step that needs no tool answers at once. */
export type Step = (context: Context) => Play<Answer> | Answer;

/** Ends the task: the steps after a failed one may rest on it. The message is for the person. */
export class Setback extends Error {
  override readonly name = "Setback";
}

/** Makes calls in one turn. */
export function* ask(calls: readonly Call[]): Play<readonly Result[]> {
  return calls.length === 0 ? [] : yield calls;
}

/** The text of a result, or the end of the task with the reason. */
export function useText(call: Call, result: Result | undefined): string {
  if (result?.state === "ok") return result.text;
  const lead = result?.state === "denied" ? "I was not allowed to" : "I could not";
  const reason = result?.text.trim() || "no reason was given";
  throw new Setback(`${lead} ${describe(call)}: ${reason}${/[.!?\]`]$/.test(reason) ? "" : "."}`);
}

/** The call in words, to follow "I could not" or "Let me". */
export function describe({ name, arguments: { path, pattern, command } }: Call): string {
  if (name === "bash") return `run \`${command}\``;
  if (pattern === undefined) return `${name} ${path}`;
  return `${name === "grep" ? "search" : "look"} for \`${pattern}\`${path === undefined ? "" : ` in ${path}`}`;
}

/** A path, the call that was made with it, and what the tool said. */
export interface Seen {
  readonly path: string;
  readonly call: Call;
  readonly text: string;
}

/**
 * Makes a call for each path, all in one turn, and needs all of them to succeed. Once, a path that leads to nothing is looked for
 * by its last name, and used from where it is if that is one place only; a folder that was read stands for what describes it.
 */
export function* look(context: Context, refs: readonly string[], toCall: (path: string) => Call): Play<Seen[]> {
  const paths = resolve(context, refs);
  let results = yield* ask(paths.map(toCall));
  const lost = new Map(paths.map((path, index) => [path, toSearch(path, results[index])] as const));
  const searches = [...lost].flatMap(([path, search]) => (search === undefined ? [] : [{ path, search }]));
  const found = yield* ask(searches.map(({ search }) => search));
  const moved = new Map<string, string>();
  for (const [index, { path, search }] of searches.entries()) {
    const [hit, ...others] = toLines(found[index]);
    if (hit === undefined) continue;
    // TODO
  }
  return [];
}
