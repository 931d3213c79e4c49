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

/** The text for the person, and what "it" means from now on. */
export interface Answer {
  readonly text: string;
  readonly paths?: readonly string[];
  readonly value?: string;
}

/** What the steps and the tasks before this step left behind. */
export interface Memory {
  readonly paths: readonly string[];
  readonly value: string | undefined;
}

export type Play<T> = Generator<readonly Call[], T, readonly Result[]>;
export type Step = (memory: Memory) => Play<Answer>;

/** Ends the task: the steps after a failed one may rest on it. The message is for the person. */
export class Setback extends Error {
  override readonly name = "Setback";
}

/** Makes calls in one turn; always one result per call. */
export function* ask(calls: readonly Call[]): Play<Result[]> {
  const results = calls.length === 0 ? [] : yield calls;
  return calls.map((_, index) => results[index] ?? { state: "failed", text: "no result was recorded" });
}

/** Makes one call that the step cannot do without. */
export function* need(call: Call): Play<string> {
  const [result] = yield* ask([call]);
  return useText(call, result);
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

export interface Found {
  path: string;
  result: Result;
  /** Says that another path was used than the one asked for, and ends with a newline. */
  note: string;
}

/**
 * Makes one call for each path, all in one turn. A path that leads to nothing is looked for by its last name, once, and used from
 * where it was found if that is one place only. A denial is not worked around.
 */
export function* askEach(paths: readonly string[], toCall: (path: string) => Call): Play<Found[]> {
  const results = yield* ask(paths.map(toCall));
  const found = results.map((result, index): Found => ({ path: paths[index] ?? "", result, note: "" }));
  const lost = found.filter(({ path, result }) => path !== "." && result.state !== "denied" && isNothing(result));
  const lookups = yield* ask(lost.map(({ path }) => toLookup(path)));
  for (const [index, item] of lost.entries()) {
    const hits = toLines(lookups[index]);
    const [hit = ""] = hits.filter((path) => hits.length === 1 || toPath(path) === item.path);
    const why = item.result.state === "failed" ? item.result.text.replace(/\.$/, "") : `There is nothing at ${item.path}`;
    if (hit.endsWith("/") && item.result.state === "failed") item.result = { state: "folder", text: "it is a folder" };
    else if (hits.length > 1) item.result = { state: "failed", text: `${why}; did you mean ${hits.slice(0, 5).join(" or ")}?` };
    else if (hit === "" && lookups[index]?.state === "ok") item.result = { state: "failed", text: why };
    if (hit !== "" && toPath(hit) !== item.path) item.note = `${why}. I took ${(item.path = toPath(hit))} instead.\n`;
  }
  const moved = lost.filter(({ note }) => note !== "");
  const retried = yield* ask(moved.map(({ path }) => toCall(path)));
  for (const [index, item] of moved.entries()) {
    const result = retried[index] ?? item.result;
    if (result.state !== "failed" || item.result.state !== "folder") item.result = result;
  }
  return found;
}

/** A call that finds the path's last name anywhere. */
export function toLookup(path: string): Call {
  return { name: "glob", arguments: { pattern: `**/${toLiteralGlob(path.replace(/^.*\//s, ""))}`, kind: "any" } };
}

export function toLiteralGlob(name: string): string {
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
