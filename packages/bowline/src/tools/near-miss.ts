/**
 * Explains why a text was not found: finds the closest place and names the difference. Each
 * comparison ignores more than the previous one.
 */
import { setImmediate as turn } from "node:timers/promises";
import { cutText, escapeText } from "../escape.ts";
import { lineAt } from "./find-text.ts";
import { stopIfAborted } from "./tool-error.ts";

const WAYS: readonly (readonly [difference: string, simplify: (line: string) => string])[] = [
  ["carriage returns", (line) => line.replaceAll("\r", "")],
  ["white space at the ends of lines", (line) => line.trimEnd()],
  ["indentation (spaces or tabs at the starts of lines)", (line) => line.trim()],
  ["white space", (line) => line.replaceAll(/\s+/g, "")],
  ["quotes, dashes or look-alike characters", (line) => toPlain(line).replaceAll(/\s+/g, "")],
  ["upper and lower case", (line) => toPlain(line).replaceAll(/\s+/g, "").toLowerCase()],
];
const MAX_SHOWN_LINES = 12;
const MAX_COMPARED_LINES = 20_000;
const MAX_LINE = 200;

/**
 * Returns text to follow "oldText does not occur in …", or "" if nothing is similar. Yields to
 * other work between comparisons and checks for aborts, because a large file takes long.
 */
export async function describeNearMiss(
  text: string,
  wanted: string,
  signal: AbortSignal,
): Promise<string> {
  // Files with old Mac line endings look like one line.
  const here = text.replaceAll("\r", "\n").indexOf(wanted.replaceAll("\r", "\n"));
  if (here !== -1) {
    const where = `line ${lineAt(text, here)} has carriage returns alone ("\\r") where oldText has line feeds, or the other way round`;
    return `The nearest text differs only in line breaks: ${where}.`;
  }
  const [lines, wantedLines] = [text.split("\n"), wanted.split("\n")];
  for (const [difference, simplify] of WAYS) {
    const needle = wantedLines.map(simplify).join("\n");
    if (needle.trim() === "") continue;
    await turn();
    stopIfAborted(signal);
    const hay = lines.map(simplify).join("\n");
    const at = hay.indexOf(needle);
    if (at === -1) continue;
    const first = lineAt(hay, at);
    return `The nearest text differs only in ${difference}:\n${show(lines, first, wantedLines.length)}`;
  }
  await turn();
  const best = findLikest(lines, wantedLines);
  if (best === undefined) return "";
  return `${describeFirstDifference(lines, wantedLines, best)}The nearest lines are:\n${show(lines, best, wantedLines.length)}`;
}

/** For several lines, names the first line that differs. */
function describeFirstDifference(
  lines: readonly string[],
  wantedLines: readonly string[],
  first: number,
): string {
  const differing = wantedLines.findIndex((line, index) => line !== lines[first - 1 + index]);
  if (wantedLines.length === 1 || differing === -1) return "";
  const wanted = cutText(escapeText(wantedLines[differing] ?? ""), MAX_LINE);
  return `The first line that differs is line ${first + differing}; for it oldText has "${wanted}". `;
}

/**
 * Returns the start, from 1, of the lines most similar to the longest wanted line, if at least half
 * similar.
 */
function findLikest(lines: readonly string[], wantedLines: readonly string[]): number | undefined {
  const longest = wantedLines.reduce(
    (best, line, index) =>
      line.trim().length > (wantedLines[best] ?? "").trim().length ? index : best,
    0,
  );
  const wanted = toPairs(wantedLines[longest] ?? "");
  let [bestLine, bestScore] = [-1, 0.5];
  for (const [index, line] of lines.slice(0, MAX_COMPARED_LINES).entries()) {
    const score = likeness(wanted, toPairs(line));
    if (score > bestScore) [bestLine, bestScore] = [index, score];
  }
  return bestLine === -1 ? undefined : Math.max(1, bestLine - longest + 1);
}

function show(lines: readonly string[], first: number, count: number): string {
  const end = Math.min(lines.length, first - 1 + Math.min(count, MAX_SHOWN_LINES));
  return lines
    .slice(first - 1, end)
    .map((line, index) => `${first + index}: ${cutText(line, MAX_LINE)}`)
    .join("\n");
}

function toPlain(line: string): string {
  return line
    .normalize("NFKC")
    .replaceAll(/[\u2018\u2019\u201A\u201B`]/g, "'")
    .replaceAll(/[\u201C\u201D\u201E\u201F]/g, '"')
    .replaceAll(/[\u2010-\u2015\u2212]/g, "-");
}

function toPairs(line: string): Set<string> {
  const text = line.trim().slice(0, MAX_LINE);
  const pairs = new Set<string>();
  for (let at = 0; at + 1 < text.length; at++) pairs.add(text.slice(at, at + 2));
  return pairs;
}

/** Returns the share of common letter pairs (Sørensen–Dice coefficient), 0 to 1. */
function likeness(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  if (a.size === 0 || b.size === 0) return 0;
  let common = 0;
  for (const pair of a) if (b.has(pair)) common++;
  return (2 * common) / (a.size + b.size);
}
