/** Steps that need names and sizes only. */
import { resolve, toRefs, unquote } from "./phrase.ts";
import { ask, see, toGlob, toLines, toLiteral, toPath } from "./step.ts";
import type { Call, Context, Play, Step } from "./step.ts";
import { bullets, enumerate, plural, toPlaces, toSize } from "./wording.ts";

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
  /^(?<all>(?:all|every)\s)?(?:the\s|my\s|our\s)?(?:(?!this\b|that\b|these\b|those\b)(?<sort>\S+)\s)?(?<noun>files?|folders|directories)(?:\s(?:in|inside|under|of|from)\s(?<places>.+)|\shere)?$/is;
const LANGUAGES: Readonly<Record<string, string>> = {
  markdown: "md",
  typescript: "ts",
  javascript: "js",
  python: "py",
  text: "txt",
};

export function toScope(text: string): Scope | undefined {
  const { all, sort, noun, places } = SCOPE.exec(text)?.groups ?? {};
  const refs = noun === undefined ? undefined : toRefs(places);
  const kind = /^file/i.test(noun ?? "") ? "file" : "directory";
  return refs && { places: refs, names: toNames(sort), kind, isDeep: (all ?? sort) !== undefined };
}

/** ".ts", "ts" and "TypeScript" → *.ts; "test" → *test* */
function toNames(sort: string | undefined): string | undefined {
  if (sort === undefined || /^all$/i.test(sort)) return undefined;
  const name = unquote(sort);
  if (/[*?]/.test(name)) return name;
  if (name.startsWith(".")) return `*${toLiteral(name)}`;
  const extension = LANGUAGES[name.toLowerCase()] ?? /^(?!test|spec)[a-z]{1,4}$/i.exec(name)?.[0].toLowerCase();
  return extension === undefined ? `*${toLiteral(name)}*` : `*.${extension}`;
}

interface Listing {
  readonly entries: readonly { readonly path: string; readonly size: number }[];
  /** More than there are entries if the tool's list was cut. */
  readonly total: number;
}

function toListing(text: string): Listing {
  const lines = toLines({ state: "ok", text });
  const total = /^\[\D*\d+ of (\d+)\b.*\]$/.exec(lines.at(-1) ?? "")?.[1];
  const entries = lines.slice(0, total === undefined ? lines.length : -1).map((line) => {
    const [, size = "0", path = line] = /^(\d+)\t(.+)$/.exec(line) ?? [];
    return { path, size: Number(size) };
  });
  return { entries, total: Math.max(Number(total ?? 0), entries.length) };
}

/** Lists the scope, with "12 `*.ts` files in src" as its label. A list with sizes that was cut is asked for in full once more. */
function* survey(context: Context, scope: Scope, sizes = false): Play<Listing & { readonly label: string }> {
  const pattern = `${scope.isDeep ? "**/" : ""}${scope.names ?? "*"}`;
  // A plain list of files shows the folders beside them.
  const kind = scope.isDeep || scope.kind !== "file" ? scope.kind : "any";
  const more = { kind, ...(sizes ? { sizes } : {}) };
  const seen = yield* see(context, resolve(context, scope.places), (path) => toGlob(pattern, path, more));
  const lists = seen.map(({ path, text }) => ({ path, ...toListing(text) }));
  const cut = lists.filter(({ entries, total }) => sizes && total > entries.length);
  const again = yield* ask(cut.map(({ path, total }) => toGlob(pattern, path, { ...more, limit: total })));
  for (const [index, list] of cut.entries())
    if (again[index]?.state === "ok") Object.assign(list, toListing(again[index].text));
  const entries = [...new Map(lists.flatMap((list) => list.entries.map((entry) => [entry.path, entry]))).values()];
  const total = lists.reduce((sum, list) => sum + list.total - list.entries.length, entries.length);
  const sort = scope.names === undefined ? "" : `\`${scope.names}\` `;
  const folders = scope.kind === "directory" ? total : entries.filter(({ path }) => path.endsWith("/")).length;
  const counts = folders === 0 || folders < total ? [plural(total - folders, `${sort}file`)] : [];
  if (folders > 0) counts.push(plural(folders, `${sort}folder`));
  return { entries, total, label: `${enumerate(counts).replace(/^0/, "no")} in ${toPlaces(seen)}` };
}

/** Lists the scope, or the wider one if there is nothing in it. */
export function listFiles(scope: Scope, wider?: Scope): Step {
  return function* (context) {
    let list = yield* survey(context, scope);
    if (list.total === 0 && wider !== undefined) list = yield* survey(context, wider);
    const paths = list.entries.map(({ path }) => path);
    const files = paths.filter((path) => scope.names !== undefined || !path.endsWith("/")).map(toPath);
    const text = list.total === 0 ? `There are ${list.label}.` : `${list.label}:\n\n${bullets(paths, list.total)}`;
    return { text, paths: files, value: paths.join("\n") };
  };
}

/** By name or glob; if nothing is called so, by a part of the name. */
export function findFiles(name: string, places: readonly string[]): Step {
  if (/[*?]/.test(name)) return listFiles({ places, names: name, kind: "any", isDeep: !name.includes("/") });
  const scope = { places, names: toLiteral(toPath(name)), kind: "any", isDeep: true } as const;
  return listFiles(scope, { ...scope, names: `*${scope.names}*` });
}

export function countFiles(scope: Scope): Step {
  return function* (context) {
    const { entries, total, label } = yield* survey(context, { ...scope, isDeep: true });
    const text = `There ${total === 1 ? "is" : "are"} ${label}, subfolders included.`;
    return { text, paths: entries.map(({ path }) => toPath(path)), value: `${total}` };
  };
}

/** The largest or smallest file of the scope, folders inside it included. */
export function rankFiles(scope: Scope, word: string): Step {
  return function* (context) {
    const { entries, total, label } = yield* survey(context, { ...scope, isDeep: true }, true);
    const sign = /^(?:small|tin)/i.test(word) ? 1 : -1;
    const [first, ...others] = entries.toSorted((a, b) => sign * (a.size - b.size));
    if (first === undefined) return { text: `There are ${label}.`, paths: [] };
    const paths = [first, ...others.filter(({ size }) => size === first.size)].map(({ path }) => path);
    const of = `Of the ${total > entries.length ? `first ${entries.length} of ` : ""}${label}`;
    const are = paths.length > 1 ? "are equally the" : "is the";
    const next = others[0] && paths.length === 1 ? ` Next is ${others[0].path} with ${toSize(others[0].size)}.` : "";
    const text = `${of}, ${enumerate(paths)} ${are} ${word}, with ${toSize(first.size)}.${next}`;
    return { text, paths, value: paths.join("\n") };
  };
}

/** Measures files, and folders with all that is in them, in one turn. */
export function measure(refs: readonly string[]): Step {
  return function* (context) {
    const toCall = (path: string): Call => {
      const name = toLiteral(path);
      return toGlob(path === "." ? "**/*" : `{${name},${name}/**/*}`, ".", { sizes: true });
    };
    const seen = yield* see(context, resolve(context, refs), toCall);
    const sums = seen.map(({ path, text: said }) => {
      const { entries, total } = toListing(said);
      const size = entries.reduce((sum, entry) => sum + entry.size, 0);
      const least = total > entries.length ? "at least " : "";
      const inside = entries.length === 1 && entries[0]?.path === path ? "" : ` in ${plural(total, "file")}`;
      return { path, size, text: `${toPlaces([{ path }])} has ${least}${toSize(size)}${inside}` };
    });
    const [first, second] = sums.toSorted((a, b) => b.size - a.size);
    const verdict = second && (first?.size === second.size ? " They are equal." : ` The largest is ${first?.path}.`);
    const text = `${enumerate(sums.map((sum) => sum.text))}.${verdict ?? ""}`;
    return { text, paths: first === undefined ? [] : [first.path], value: `${first?.size}` };
  };
}
