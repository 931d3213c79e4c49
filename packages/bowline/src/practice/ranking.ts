/** Ranks files by bytes (largest) or by lines (longest). */
import { look, Setback, toEntries, toGlob, useText } from "./step.ts";
import type { Answer, Call, Play, Step } from "./step.ts";
import { toPage } from "./contents.ts";
import { toLabel } from "./files.ts";
import { bullets, enumerate, plural } from "./wording.ts";

/** A word such as smallest, longest or "most lines", a unit that was named, and how many to name. */
interface Rank {
  readonly word: string | undefined;
  readonly unit: string | undefined;
  readonly most: number;
}

interface Measure {
  readonly path: string;
  readonly count: number;
}

/** The maximum number of files in a ranking by lines, which reads one line of each file. */
const MOST_READ = 400;

/** A ranking by lines omits files that are not text. */
export function rankFiles(
  refs: readonly string[],
  pattern: string,
  { word = "largest", unit = word, most }: Rank,
): Step {
  const isByLines = /lines?|longest|shortest|length/i.test(unit);
  const isLeast = /fewest|least|smallest|shortest|tiniest/i.test(word);
  const [least, greatest] = isByLines ? ["shortest", "longest"] : ["smallest", "largest"];
  const adjective = /\s/.test(word) ? (isLeast ? least : greatest) : word.toLowerCase();
  return function* (subject): Play<Answer> {
    const seen = yield* look(subject, refs, (path) => toGlob(pattern, path, "file"));
    const label = toLabel(seen, pattern, "file");
    const sizes = seen.flatMap(({ text }) =>
      toEntries(text).map(({ path, size }) => ({ path, count: size })),
    );
    if (sizes.length === 0) return { text: `There are ${label}.`, paths: [], value: "" };
    const counts = isByLines ? yield* countLines(sizes.map(({ path }) => path)) : sizes;
    const sorted = counts.toSorted((a, b) => (isLeast ? a.count - b.count : b.count - a.count));
    return name(sorted, {
      label,
      adjective,
      noun: isByLines ? "line" : "byte",
      most,
    });
  };
}

function* countLines(paths: readonly string[]): Play<Measure[]> {
  if (paths.length > MOST_READ)
    throw new Setback(
      `I count the lines of ${MOST_READ} files at most, and there are ${paths.length}.\nPlease name a folder or a kind of file.`,
    );
  const calls = paths.map((path): Call => ({ name: "read", arguments: { path, limit: 1 } }));
  const results = yield calls;
  return calls.flatMap((call, index) => {
    const path = paths[index] ?? "";
    const result = results[index];
    // A read of an image returns no text.
    const isText = result?.text !== "" && result?.text.includes(" is not a text file") !== true;
    if (!isText) return [];
    return [{ path, count: toPage({ path, call, text: useText(call, result) }).total }];
  });
}

function name(
  sorted: readonly Measure[],
  {
    label,
    adjective,
    noun,
    most,
  }: Readonly<{ label: string; adjective: string; noun: string; most: number }>,
): Answer {
  if (most > 1 && sorted.length > most) {
    const first = sorted.slice(0, most);
    const lines = first.map(({ path, count }) => `${path}: ${plural(count, noun)}`);
    const paths = first.map(({ path }) => path);
    const text = `The ${most} ${adjective} of the ${label}:\n\n${bullets(lines)}`;
    return { text, paths, value: paths.join("\n") };
  }
  const count = sorted[0]?.count ?? 0;
  const paths = sorted.filter((each) => each.count === count).map(({ path }) => path);
  if (paths.length === 0) return { text: `None of the ${label} is a text.`, paths };
  const are = paths.length > 1 ? "are equally the" : "is the";
  const text = `Of the ${label}, ${enumerate(paths)} ${are} ${adjective}, with ${plural(count, noun)}.`;
  return { text, paths, value: paths.join("\n") };
}
