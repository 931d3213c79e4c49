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
  if (name === "glob") return `${args["sizes"] ? "measure" : "look for"} \`${args["pattern"]}\`${where}`;
  return `${name} ${args["path"]}`;
}

interface Look {
  path: string;
  result: Result;
}

/**
 * Makes one call for each path, all in one turn. A path that leads to nothing is looked for by its last name, once, and used from
 * where it was found if that is one place only. A denial is not worked around.
 */
export function* look(context: Context, paths: readonly string[], toCall: (path: string) => Call): Play<Look[]> {
  const results = yield* ask(paths.map(toCall));
  const looks = results.map((result, index): Look => ({ path: paths[index] ?? "", result }));
  const lost = looks.filter(({ path, result }) => path !== "." && result.state !== "denied" && isNothing(result));
  const searches = yield* ask(lost.map(({ path }) => toGlob(`**/${toLiteral(path.replace(/^.*\//s, ""))}`, ".", { kind: "any" })));
  const moved: Look[] = [];
  for (const [index, item] of lost.entries()) {
    const hits = toLines(searches[index]);
    const [hit = ""] = hits.filter((path) => hits.length === 1 || toPath(path) === item.path);
    const why = item.result.state === "failed" ? item.result.text.replace(/\.$/, "") : `There is nothing at ${item.path}`;
    if (hit.endsWith("/") && item.result.state === "failed") item.result = { state: "folder", text: "it is a folder" };
    else if (hits.length > 1) item.result = { state: "failed", text: `${why}; did you mean ${hits.slice(0, 5).join(" or ")}?` };
    else if (hit === "" && searches[index]?.state === "ok") item.result = { state: "failed", text: why };
    if (hit === "" || toPath(hit) === item.path) continue;
    context.notes.push(`${why}. I took ${(item.path = toPath(hit))} instead.`);
    moved.push(item);
  }
  const again = yield* ask(moved.map(({ path }) => toCall(path)));
  for (const [index, item] of moved.entries()) {
    const result = again[index] ?? item.result;
    if (result.state !== "failed" || item.result.state !== "folder") item.result = result;
  }
  return looks;
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
  return result === undefined || isNothing(result) ? [] : result.text.split("\n").filter((line) => line !== "");
}

function isNothing({ state, text }: Result): boolean {
  return state !== "ok" || text.trim() === "[no matches]";
}
