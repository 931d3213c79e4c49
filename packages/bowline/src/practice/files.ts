/** Steps about names and sizes: a glob in each place, and a summary of the results. */
import { inspect, Setback, toEntries, toGlob, toLiteral } from "./step.ts";
import type { Answer, Call, Entry, Kind, Seen, Step } from "./step.ts";
import { bullets, enumerate, plural } from "./wording.ts";

interface Survey {
  readonly entries: readonly Entry[];
  /** For example: 12 `*.ts` files in src */
  readonly label: string;
}

const NOUNS = { any: "item", file: "file", directory: "folder" } as const;

/** Lists entries. `pattern` is relative to each place; without ** it includes folders. */
export function survey(
  refs: readonly string[],
  pattern: string,
  summarize: (survey: Survey) => Partial<Answer>,
  kind: Kind = pattern.startsWith("**/") ? "file" : "any",
): Step {
  const toCall = (path: string): Call => toGlob(pattern, path, kind);
  return inspect(refs, toCall, (seen) => {
    const entries = seen.flatMap(({ text }) => toEntries(text));
    const label = toLabel(seen, pattern, kind);
    const paths = entries.map(({ path }) => path);
    return {
      text: `There are ${label}.`,
      paths,
      value: paths.join("\n"),
      ...summarize({ entries, label }),
    };
  });
}

/** "12 `*.ts` files in src", of what globs listed. */
export function toLabel(seen: readonly Seen[], pattern: string, kind: Kind): string {
  const names = pattern.replace(/^\*\*\//, "");
  const noun = `${names === "*" ? "" : `\`${names}\` `}${NOUNS[kind]}`;
  const total = seen.reduce((sum, { text }) => sum + toEntries(text).length, 0);
  const counted = plural(total, noun).replace(/^0/, "no");
  return `${counted} in ${enumerate(seen.map(({ path }) => path))}`;
}

export function list({ entries, label }: Survey): Partial<Answer> {
  return entries.length === 0
    ? {}
    : { text: `${label}:\n\n${bullets(entries.map(({ path }) => path))}` };
}

export function count({ entries, label }: Survey): Partial<Answer> {
  const text = `There ${entries.length === 1 ? "is" : "are"} ${label}, subfolders included.`;
  return { text, value: `${entries.length}` };
}

/** Compares the sizes of files and folders. A folder includes the files of its subfolders. */
export function compareSizes(refs: readonly string[]): Step {
  const toCall = (path: string): Call =>
    toGlob(path === "." ? "**/*" : `${toLiteral(path)}{,/**/*}`, ".", "file");
  return inspect(refs, toCall, (seen) => {
    const sums = seen.map(({ path, text }) => {
      const entries = toEntries(text);
      if (entries.length === 0) throw new Setback(`There is nothing at ${path}.`);
      const size = entries.reduce((sum, entry) => sum + entry.size, 0);
      const inside = entries[0]?.path === path ? "" : ` in ${plural(entries.length, "file")}`;
      return { path, size, text: `${enumerate([path])} has ${plural(size, "byte")}${inside}` };
    });
    const largest = Math.max(...sums.map(({ size }) => size));
    const paths = sums.filter(({ size }) => size === largest).map(({ path }) => path);
    const verdict =
      sums.length > 1 ? ` The largest ${paths.length > 1 ? "are" : "is"} ${enumerate(paths)}.` : "";
    return {
      text: `${enumerate(sums.map(({ text }) => text))}.${verdict}`,
      paths,
      value: `${largest}`,
    };
  });
}
