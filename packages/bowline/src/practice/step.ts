/**
 * A step is a generator: it yields tool calls (one array is one turn, made in parallel) and is resumed with their results, so a
 * task of several turns reads from top to bottom. `plan()` replays it against the conversation, hence steps are deterministic.
 */
export interface Call {
  readonly name: "read" | "write" | "edit" | "bash" | "grep" | "glob";
  readonly arguments: Readonly<Record<string, string | number | boolean>>;
}

export interface Result {
  /** `folder`: the call failed because its path is a folder. */
  readonly state: "ok" | "failed" | "denied" | "folder";
  readonly text: string;
}

/** What the steps and tasks before left behind, and what this one has to say before its answer. */
export interface Context {
  readonly paths: readonly string[];
  readonly value: string | undefined;
  readonly notes: string[];
}

/** The text for the person, and what "it" means from now on: a file, or a text. */
export interface Answer {
  readonly text: string;
  readonly paths?: readonly string[];
  readonly value?: string | undefined;
}

export type Play<T> = Generator<readonly Call[], T, readonly Result[]>;
/** A step that needs no tool answers at once. */
export type Step = (context: Context) => Play<Answer> | Answer;

/** Ends the task: the steps after a failed one may rest on it. The message is for the person. */
export class Setback extends Error {
  override readonly name = "Setback";
}

/** Makes calls in one turn; always one result per call. */
export function* ask(calls: readonly Call[]): Play<Result[]> {
  const results = calls.length === 0 ? [] : yield calls;
  return calls.map((_, index) => results[index] ?? { state: "failed", text: "no result came back" });
}

/** The text of a result, or the end of the task with the reason. */
export function useText(call: Call, result: Result | undefined): string {
  if (result?.state !== "ok") throw new Setback(toFailure(call, result));
  return result.text;
}

export function toFailure(call: Call, result: Result | undefined): string {
  const lead = result?.state === "denied" ? "I was not allowed to" : "I could not";
  const reason = result?.text.trim() || "no reason was given";
  return `${lead} ${describe(call)}: ${reason}${/[.!?\]`]$/.test(reason) ? "" : "."}`;
}

/** The call in words, to follow "I could not" or "Let me". */
export function describe({ name, arguments: args }: Call): string {
  const where = args["path"] === undefined ? "" : ` in ${args["path"]}`;
  if (name === "bash") return `run \`${args["command"]}\``;
  if (name === "grep") return `search for \`${args["pattern"]}\`${where}`;
  const pattern = `${args["pattern"]}`.replace(/^\{(.+),\1\/\*\*\/\*\}$/, "$1");
  if (name === "glob") return `${args["sizes"] ? "measure" : "look for"} \`${pattern}\`${where}`;
  return `${name} ${args["path"]}`;
}

/** A path, what was asked about it, and the answer. */
export interface Seen {
  readonly path: string;
  readonly call: Call;
  readonly text: string;
}

/** As `look`, for a step that needs all results. */
export function* see(context: Context, paths: readonly string[], toCall: (path: string) => Call): Play<Seen[]> {
  const looks = yield* look(context, paths, toCall);
  return looks.map(({ path, result }) => ({ path, call: toCall(path), text: useText(toCall(path), result) }));
}

const NOTHING = "[no matches]";

interface Look {
  path: string;
  result: Result;
}

/**
 * Makes one call for each path, all in one turn. A path that leads to nothing is looked for by its last name, once, and used from
 * where it was found if that is one place only, or only one is in its folder. A denial is not worked around.
 */
export function* look(context: Context, paths: readonly string[], toCall: (path: string) => Call): Play<Look[]> {
  const results = yield* ask(paths.map(toCall));
  const looks = results.map((result, index): Look => ({ path: paths[index] ?? "", result }));
  const lost = looks.filter(({ path, result: { state, text } }) => {
    const isEmptyList = toCall(path).name === "glob" && text.trim() === NOTHING;
    return path !== "." && (state === "failed" || isEmptyList);
  });
  const byName = lost.map(({ path }) => {
    const name = toLiteral(path.replace(/^.*\//s, ""));
    return name.includes(".") ? `**/${name}` : `**/{${name},${name}.*}`;
  });
  const searches = yield* ask(byName.map((pattern) => toGlob(pattern, ".", { kind: "any" })));
  const moved = lost.filter((item, index) => relocate(item, searches[index], context.notes));
  const again = yield* ask(moved.map(({ path }) => toCall(path)));
  for (const [index, item] of moved.entries()) {
    const result = again[index] ?? item.result;
    if (result.state !== "failed" || item.result.state !== "folder") item.result = result;
  }
  return looks;
}

/** Says what became of a lost path: true if it is to be tried at its new place. */
function relocate(item: Look, search: Result | undefined, notes: string[]): boolean {
  const { path, result } = item;
  const toFolder = (place: string): string => toPath(place).replace(/[^/]*$/, "");
  const all = toLines(search);
  const own = all.find((hit) => toPath(hit) === path);
  const near = all.filter((hit) => toFolder(hit) === toFolder(path));
  const hits = near.length === 1 ? near : all;
  const only = own === undefined && hits.length === 1 ? (hits[0] ?? "") : "";
  const why = result.state === "failed" ? result.text.replace(/\.$/, "") : `There is nothing at ${path}`;
  const hint = hits.length > 1 ? `; did you mean ${hits.slice(0, 5).join(" or ")}?` : "";
  if (result.state === "failed" && (own ?? only).endsWith("/"))
    item.result = { state: "folder", text: "it is a folder" };
  else if (own === undefined && search?.state === "ok") item.result = { state: "failed", text: why + hint };
  if (only === "") return false;
  item.path = toPath(only);
  notes.push(`${why}. I took ${item.path} instead.`);
  return true;
}

export function toGlob(pattern: string, path: string, more: Call["arguments"] = {}): Call {
  return { name: "glob", arguments: { pattern, ...(path === "." ? {} : { path }), ...more } };
}

/** A name as a glob that means only this name. */
export function toLiteral(name: string): string {
  return name.replaceAll(/[\\[\]{}()*?!,]/g, String.raw`\$&`);
}

/** `./src/` and `src` are one path. */
export function toPath(text: string): string {
  return text.replace(/^(?:\.\/)+(?=.)/, "").replace(/(?<=[^/])\/+$/, "");
}

/** The lines of a list, none if the call failed. */
export function toLines(result: Result | undefined): string[] {
  if (result?.state !== "ok" || result.text.trim() === NOTHING) return [];
  return result.text.split("\n").filter((line) => line !== "");
}
