/**
 * A step is a generator. It yields tool calls (one array is one turn, in parallel) and is resumed
 * with their results. `plan()` replays it against the conversation, so steps must be deterministic.
 */
import { toPath, unquote } from "./phrase.ts";

export interface Call {
  readonly name: "read" | "write" | "edit" | "bash" | "grep" | "glob";
  readonly arguments: Readonly<Record<string, string | number | boolean>>;
}

export interface Result {
  readonly state: "ok" | "failed" | "denied";
  readonly text: string;
}

/**
 * The text for the person, and what "it" means in later steps: files (if absent, the previous
 * ones), and a text or number.
 */
export interface Answer {
  readonly text: string;
  readonly paths?: readonly string[] | undefined;
  readonly value?: string | undefined;
}

export type Subject = Omit<Answer, "text">;

/** A result is undefined if none came back, for example after a crash. */
export type Play<T> = Generator<readonly Call[], T, readonly (Result | undefined)[]>;
/** A step that needs no tool returns its answer directly. */
export type Step = (subject: Subject) => Play<Answer> | Answer;

/** Ends the task, since later steps may depend on the failed one. The message is for the person. */
export class Setback extends Error {
  override readonly name = "Setback";
}

/** Returns the text of a result. Throws {@link Setback} with the reason if the call failed. */
export function useText(call: Call, result: Result | undefined): string {
  if (result?.state === "ok") return result.text;
  const lead = result?.state === "denied" ? "I was not allowed to" : "I could not";
  const reason = result?.text.trim() || "no result came back";
  throw new Setback(`${lead} ${describe(call)}: ${reason}${/[.!?\]`]$/.test(reason) ? "" : "."}`);
}

/** Describes a call in words that can follow "I could not" or "Let me". */
export function describe({ name, arguments: { path, pattern, command } }: Call): string {
  if (name === "bash") return `run \`${command}\``;
  if (pattern === undefined) return `${name} ${path}`;
  return `${name === "grep" ? "search" : "look"} for \`${pattern}\`${path === "." ? "" : ` in ${path}`}`;
}

/** A path, the call for it, and the tool's output. */
export interface Seen {
  readonly path: string;
  readonly call: Call;
  readonly text: string;
}

type ToCall = (path: string) => Call;

export function inspect(
  refs: readonly string[],
  toCall: ToCall,
  summarize: (seen: Seen[]) => Answer,
): Step {
  return function* (subject) {
    return summarize(yield* look(subject, refs, toCall));
  };
}

/**
 * Makes one call per path, all in one turn; all must succeed. A missing path is searched for once
 * by its last name, and used if there is exactly one match. With `readme`, a folder stands for its
 * readme.
 */
export function* look(
  subject: Subject,
  refs: readonly string[],
  toCall: ToCall,
  {
    readme = false,
    isAgain = false,
  }: { readonly readme?: boolean; readonly isAgain?: boolean } = {},
): Play<Seen[]> {
  const paths = resolve(subject, refs).map((path) => (/^readme$/i.test(path) ? "README.md" : path));
  const results = yield paths.map(toCall);
  const lost = results.findIndex(
    (result) =>
      result?.state === "failed" &&
      (result.text.startsWith("No such") || (readme && result.text.includes(" is a folder"))),
  );
  const missing = paths[lost];
  if (missing !== undefined && !isAgain) {
    const isFolder = results[lost]?.text.includes(" is a folder");
    const name = toLiteral(missing.replace(/^.*\//s, ""));
    const search = isFolder
      ? toGlob("{README.md,package.json}", missing, "file")
      : toGlob(`**/${name}`, ".", "any");
    const [hit, ...others] = toEntries((yield [search])[0]?.text ?? "");
    if (hit && (isFolder || others.length === 0))
      return yield* look(subject, paths.with(lost, hit.path), toCall, { isAgain: true });
  }
  return paths.map((path, index) => ({
    path,
    call: toCall(path),
    text: useText(toCall(path), results[index]),
  }));
}

/** Returns the paths of refs. A pronoun stands for the subject. */
export function resolve({ paths = [] }: Subject, refs: readonly string[]): string[] {
  const isPronoun = (ref: string): boolean =>
    /^(?:it|its|this|that|them|they|these|those|files?)$/i.test(ref);
  const all = [...new Set(refs.flatMap((ref) => (isPronoun(ref) ? paths : [ref])).map(toPath))];
  if (all.length === 0) throw new Setback("I do not know which file you mean. Please name it.");
  if (all.length > 20) throw new Setback("I look into 20 files at most. Please name fewer.");
  return all;
}

const NAMES = /^(?:its|the|their) (?:file)?names?$/i;
const FOUND =
  /^(?:it|this|that|them|(?:the|this|that) (?:result|answer|output|list|number|count|total|sum))$/i;

/** Returns true if the words refer to the result of the previous step. */
export function isReference(text: string): boolean {
  return NAMES.test(text) || FOUND.test(text);
}

/**
 * Returns the text without its quotes, or the result of the previous step for "it", "the result"
 * and similar words. Throws {@link Setback} if that step left no text.
 */
export function resolveText({ paths, value }: Subject, text: string): string {
  if (NAMES.test(text) && paths !== undefined) return paths.join("\n");
  if (!FOUND.test(text)) return unquote(text);
  if (value === undefined)
    throw new Setback(`I do not know what “${text}” is; no step before this one left a text.`);
  return value;
}

export type Kind = "file" | "directory" | "any";

/** Creates a glob call with sizes and without a limit: the largest file may be the last. */
export function toGlob(pattern: string, path: string, kind: Kind): Call {
  return { name: "glob", arguments: { pattern, path, kind, sizes: true, limit: 100_000 } };
}

/** Escapes a name, so that a glob matches only this name. */
export function toLiteral(name: string): string {
  return name.replaceAll(/[\\[\]{}()*?!,]/g, String.raw`\$&`);
}

export type Entry = Readonly<{ path: string; size: number }>;

/** Parses the output of a glob. Folders end with a slash. */
export function toEntries(text: string): Entry[] {
  const lines = [...text.matchAll(/^(\d+)\t(.+)$/gm)];
  return lines.map(([, size, path = ""]) => ({ path, size: Number(size) }));
}

/** Quotes a path or text as one word of a command. */
export function quoteForShell(text: string): string {
  const safe = text.startsWith("-") ? `./${text}` : text;
  return /^[\w./@-]+$/.test(safe) ? safe : `'${safe.replaceAll("'", String.raw`'\''`)}'`;
}
