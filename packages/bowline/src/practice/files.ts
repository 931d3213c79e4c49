/** Steps that need names and sizes only. */
import { resolve, toRefs, unquote } from "./phrase.ts";
import { ask, askEach, toLines, toLiteralGlob, toPath, useText } from "./step.ts";
import type { Call, Memory, Play, Step } from "./step.ts";
import { bullets, enumerate, plural, toSize } from "./wording.ts";

/** "the .ts files in src and test" */
export interface Scope {
  readonly places: readonly string[];
  /** A glob for the last part of the path. */
  readonly names?: string | undefined;
  readonly kind: "file" | "directory" | "any";
  /** Whether folders inside the places count. */
  readonly isDeep: boolean;
}

const SCOPE =
  /^(?<all>(?:all|every)\s)?(?:of\s)?(?:the\s|my\s|our\s)?(?:(?<sort>\S+)\s)?(?<noun>files?|(?:sub)?folders?|director(?:y|ies))(?:\s(?:in|inside|under|of|from|within)\s(?<places>.+)|\shere)?$/is;
const LANGUAGES = new Map(Object.entries({ markdown: "md", typescript: "ts", javascript: "js", python: "py", text: "txt" }));

export function toScope(text: string | undefined): Scope | undefined {
  const { all, sort, noun, places = noun === undefined ? text : undefined } = SCOPE.exec(text ?? "")?.groups ?? {};
  const refs = toRefs(places);
  const kind = noun === undefined || /^file/i.test(noun) ? "file" : "directory";
  return refs && { places: refs, names: toNames(sort), kind, isDeep: (all ?? sort) !== undefined };
}

/** ".ts", "ts" and "TypeScript" → *.ts; "test" → *test* */
function toNames(sort: string | undefined): string | undefined {
  if (sort === undefined || /^(?:all|these|those|different|source)$/i.test(sort)) return undefined;
  const name = unquote(sort);
  if (/[*?]/.test(name)) return name;
  if (name.startsWith(".")) return `*${toLiteralGlob(name)}`;
  const extension = LANGUAGES.get(name.toLowerCase()) ?? /^(?!test|spec)[a-z]{1,4}$/i.exec(name)?.[0].toLowerCase();
  return extension === undefined ? `*${toLiteralGlob(name)}*` : `*.${extension}`;
}

interface Entry {
  readonly path: string;
  readonly size: number;
}

interface Survey {
  readonly entries: readonly Entry[];
  /** More than there are entries if the tool's list was cut. */
  readonly total: number;
  /** "12 `*.ts` files in src" */
  readonly label: string;
  readonly note: string;
}

/** Lists everything in the scope. A list with sizes that was cut is asked for once more in full: the largest may be missing. */
function* survey(memory: Memory, scope: Scope, sizes = false): Play<Survey> {
  const pattern = `${scope.isDeep ? "**/" : ""}${scope.names ?? "*"}`;
  const more = { kind: scope.kind, ...(sizes ? { sizes } : {}) };
  const found = yield* askEach(resolve(memory, scope.places), (path) => toGlob(pattern, path, more));
  const lists = found.map(({ path, result }) => ({ path, ...toEntries(useText(toGlob(pattern, path), result)) }));
  const cut = lists.filter(({ entries, total }) => sizes && total > entries.length);
  const again = yield* ask(cut.map(({ path, total }) => toGlob(pattern, path, { ...more, limit: total })));
  for (const [index, list] of cut.entries()) {
    const result = again[index];
    if (result?.state === "ok") Object.assign(list, toEntries(result.text));
  }
  const entries = [...new Map(lists.flatMap((list) => list.entries.map((entry) => [entry.path, entry]))).values()];
  const total = lists.reduce((sum, list) => sum + list.total - list.entries.length, entries.length);
  const sort = scope.names === undefined ? "" : `\`${scope.names}\` `;
  const folders = scope.kind === "directory" ? total : entries.filter(({ path }) => path.endsWith("/")).length;
  const counts = [total > folders ? plural(total - folders, `${sort}file`) : "", folders > 0 ? plural(folders, `${sort}folder`) : ""];
  const nothing = `no ${sort}${scope.kind === "directory" ? "folders" : "files"}`;
  const where = enumerate(found.map(({ path }) => (path === "." ? "this folder" : path)));
  const label = `${enumerate(counts.filter((count) => count !== "")) || nothing} in ${where}`;
  return { entries, total, label, note: found.map(({ note }) => note).join("") };
}

/** Lists the scope, or the wider one if there is nothing in it. */
export function listFiles(scope: Scope, wider: Scope = scope): Step {
  return function* (memory) {
    let list = yield* survey(memory, scope);
    if (list.total === 0 && wider !== scope) list = yield* survey(memory, wider);
    const paths = list.entries.map(({ path }) => path);
    const files = scope.names === undefined ? paths.filter((path) => !path.endsWith("/")) : paths.map(toPath);
    const text = list.total === 0 ? `There are ${list.label}.` : `${list.label}:\n\n${bullets(paths, list.total)}`;
    return { text: list.note + text, paths: files, value: paths.join("\n") };
  };
}

/** By name or glob; if nothing is called so, by a part of the name. */
export function findFiles(name: string, places: readonly string[]): Step {
  if (/[*?]/.test(name)) return listFiles({ places, names: name, kind: "any", isDeep: !name.includes("/") });
  const scope = { places, names: toLiteralGlob(toPath(name)), kind: "any", isDeep: true } as const;
  return listFiles(scope, { ...scope, names: `*${scope.names}*` });
}

export function countFiles(scope: Scope): Step {
  return function* (memory) {
    const { entries, total, label, note } = yield* survey(memory, { ...scope, isDeep: true });
    const text = `${note}There ${total === 1 ? "is" : "are"} ${label}, subfolders included.`;
    return { text, paths: entries.map(({ path }) => toPath(path)), value: `${total}` };
  };
}

/** The largest or smallest files of the scope, folders inside it included. */
export function rankFiles(scope: Scope, word: string, most: number): Step {
  return function* (memory) {
    const { entries, total, label, note } = yield* survey(memory, { ...scope, isDeep: true }, true);
    const sign = /^(?:small|tin)/i.test(word) ? 1 : -1;
    const ranked = entries.toSorted((a, b) => sign * (a.size - b.size) || (a.path < b.path ? -1 : 1));
    const [first, second] = ranked;
    if (first === undefined) return { text: `${note}There are ${label}.`, paths: [] };
    const ties = ranked.filter(({ size }) => size === first.size);
    const best = (most > 1 ? ranked.slice(0, most) : ties).map(({ path }) => path);
    const of = total > entries.length ? `the first ${entries.length} of the ${label}` : `the ${label}`;
    const next = second === undefined ? "" : ` Next is ${second.path} with ${toSize(second.size)}.`;
    const one = `Of ${of}, ${first.path} is the ${word}, with ${toSize(first.size)}.${next}`;
    const several = `Of ${of}, the ${word} are ${enumerate(best)}, with ${toSize(first.size)} each.`;
    const lines = ranked.slice(0, most).map(({ path, size }) => `${path}: ${toSize(size)}`);
    const text = most > 1 ? `The ${word} of ${of}:\n\n${bullets(lines)}` : ties.length > 1 ? several : one;
    return { text: note + text, paths: best, value: best.join("\n") };
  };
}

/** Measures files, and folders with all that is in them, in one turn. */
export function measure(refs: readonly string[]): Step {
  return function* (memory) {
    const toCall = (path: string): Call => {
      const name = toLiteralGlob(path);
      return toGlob(path === "." ? "**/*" : `{${name},${name}/**/*}`, ".", { sizes: true });
    };
    const found = yield* askEach(resolve(memory, refs), toCall);
    const sums = found.map(({ path, result, note }) => {
      const { entries, total } = toEntries(useText(toCall(path), result));
      const size = entries.reduce((sum, entry) => sum + entry.size, 0);
      const most = total > entries.length ? "at least " : "";
      const inside = entries.length === 1 && entries[0]?.path === path ? "" : ` in ${plural(total, "file")}`;
      return { path, size, text: `${note}${path === "." ? "This folder" : path} has ${most}${toSize(size)}${inside}` };
    });
    const [first, second] = sums.toSorted((a, b) => b.size - a.size);
    const largest = first?.size === second?.size ? "They are equal." : `The largest is ${first?.path}.`;
    const text = `${enumerate(sums.map((sum) => sum.text))}.${second === undefined ? "" : ` ${largest}`}`;
    return { text, paths: first === undefined ? [] : [first.path], value: `${first?.size}` };
  };
}

export function toGlob(pattern: string, path: string, more: Call["arguments"] = {}): Call {
  return { name: "glob", arguments: { pattern, ...(path === "." ? {} : { path }), ...more } };
}

function toEntries(text: string): { readonly entries: readonly Entry[]; readonly total: number } {
  const lines = toLines({ state: "ok", text });
  const total = /^\[\D*\d+ of (\d+)\b.*\]$/.exec(lines.at(-1) ?? "")?.[1];
  if (total !== undefined) lines.pop();
  const entries = lines.map((line): Entry => {
    const [, size = "0", path = line] = /^(\d+)\t(.+)$/.exec(line) ?? [];
    return { path, size: Number(size) };
  });
  return { entries, total: Math.max(Number(total ?? 0), entries.length) };
}
