/** Draws the change of a file: numbered lines with context. `+` and `-` tell them apart. */
import { printable } from "../../terminal.ts";
import type { Colours } from "../colours.ts";
import { countText } from "./amounts.ts";
import { CellFlow } from "./cell-flow.ts";
import { editScript } from "./edit-script.ts";
import { compareTexts, parseDiff, type DiffLine, type FileDiff } from "./file-diff.ts";
import { rowText, type Prefix } from "./row.ts";
import { unpainted, type Paint, type Span } from "./span.ts";
import { wrapStyled } from "./wrap.ts";

export interface DiffLimits {
  /** Further hunks are counted only. Default 20. */
  readonly maxHunks?: number;
  /** Further lines are counted only. Default 200. */
  readonly maxLines?: number;
}

/** Longer lines are cut. */
const MAX_LENGTH = 2000;
/** Longer lines have no emphasis on words. */
const MAX_WORDS_LENGTH = 500;
/** The share of a line that must be the same for emphasis on the rest. */
const MIN_SAME = 0.3;

/** Undefined texts: the file did not exist, or does not any more. */
export function diffLines(
  before: string | undefined,
  after: string | undefined,
  path: string,
  columns: number,
  colours: Colours,
  limits?: DiffLimits,
): string[] {
  return drawDiff(compareTexts(path, before, after), columns, colours, limits);
}

/** Draws the unified diff in the details of an edit. */
export function unifiedDiffLines(
  diff: string,
  path: string,
  columns: number,
  colours: Colours,
  limits?: DiffLimits,
): string[] {
  return drawDiff(parseDiff(path, diff), columns, colours, limits);
}

function drawDiff(
  diff: FileDiff,
  columns: number,
  colours: Colours,
  { maxHunks = 20, maxLines = 200 }: DiffLimits = {},
): string[] {
  const rows = wrapStyled(titleOf(diff, colours), columns);
  const numbers = diff.hunks.flat().map(({ number }) => number);
  const width = String(numbers.reduce((most, number) => Math.max(most, number), 1)).length;
  let left = maxLines;
  for (const [index, hunk] of diff.hunks.slice(0, maxHunks).entries()) {
    if (left <= 0) break;
    if (index > 0) rows.push(`${" ".repeat(width)} ${colours.dim("...")}`);
    for (const [line, spans] of withEmphasis(hunk.slice(0, left), colours))
      rows.push(...drawLine({ line, spans, width, columns, colours }));
    left -= hunk.length;
  }
  const hidden = hiddenLines(diff, maxHunks, maxLines);
  if (hidden > 0)
    rows.push(...wrapStyled(colours.dim(`${countText(hidden, "line")} hidden`), columns));
  return rows;
}

function hiddenLines({ hunks }: FileDiff, maxHunks: number, maxLines: number): number {
  const all = hunks.reduce((sum, hunk) => sum + hunk.length, 0);
  const shown = hunks.slice(0, maxHunks).reduce((sum, hunk) => sum + hunk.length, 0);
  return all - Math.min(shown, maxLines);
}

function titleOf({ path, type, hunks }: FileDiff, { bold, green, red }: Colours): string {
  const name = bold(printable(path).replaceAll("\n", "\u240a"));
  const count = (wanted: DiffLine["type"]): number =>
    hunks.flat().filter((line) => line.type === wanted).length;
  const [added, removed] = [green(`+${count("added")}`), red(`-${count("removed")}`)];
  switch (type) {
    case "changed":
      return `Change of ${name} (${added} ${removed})`;
    case "created":
      return `New file ${name} (${added})`;
    case "deleted":
      return `Deletion of ${name} (${removed})`;
    case "binary":
      return `Change of ${name} (not text, so its lines are not shown)`;
    case "unchanged":
      return `No change of ${name}`;
  }
}

interface LineToDraw {
  readonly line: DiffLine;
  readonly spans: readonly Span[];
  readonly width: number;
  readonly columns: number;
  readonly colours: Colours;
}

const signs = { same: " ", removed: "-", added: "+", note: "\\" } as const;

function drawLine({ line, spans, width, columns, colours }: LineToDraw): string[] {
  const sign = signs[line.type];
  const number = line.type === "note" ? "" : String(line.number);
  const gutter = width + 3;
  const first: Prefix = {
    text: `${colours.dim(number.padStart(width))} ${paintOf(line, colours)(sign)} `,
    width: gutter,
  };
  const rest: Prefix = { text: " ".repeat(gutter), width: gutter };
  const flow = new CellFlow(Math.max(columns, gutter + 4), colours, { first, rest }, "arrow");
  for (const span of spans) flow.add(span);
  return flow.end().map(rowText);
}

function paintOf({ type }: DiffLine, { red, green, dim }: Colours): Paint {
  switch (type) {
    case "removed":
      return red;
    case "added":
      return green;
    case "note":
      return dim;
    case "same":
      return unpainted;
  }
}

/** Emphasises the words that differ where as many lines were added as removed. */
function withEmphasis(
  hunk: readonly DiffLine[],
  colours: Colours,
): readonly (readonly [DiffLine, readonly Span[]])[] {
  const out: (readonly [DiffLine, readonly Span[]])[] = [];
  for (let at = 0; at < hunk.length;) {
    const removed = runOf(hunk, at, "removed");
    const added = runOf(hunk, at + removed.length, "added");
    if (removed.length === 0 || removed.length !== added.length) {
      const plain =
        removed.length + added.length === 0 ? hunk.slice(at, at + 1) : [...removed, ...added];
      for (const line of plain)
        out.push([line, [{ text: textOf(line), paint: paintOf(line, colours) }]]);
      at += plain.length;
      continue;
    }
    const pairs = removed.map((line, index) => wordSpans(line, added[index] as DiffLine, colours));
    removed.forEach((line, index) => out.push([line, pairs[index]?.[0] ?? []]));
    added.forEach((line, index) => out.push([line, pairs[index]?.[1] ?? []]));
    at += 2 * removed.length;
  }
  return out;
}

function runOf(
  hunk: readonly DiffLine[],
  from: number,
  type: DiffLine["type"],
): readonly DiffLine[] {
  let end = from;
  while (hunk[end]?.type === type) end++;
  return hunk.slice(from, end);
}

function wordSpans(
  removed: DiffLine,
  added: DiffLine,
  colours: Colours,
): readonly [Span[], Span[]] {
  const [old, now] = [textOf(removed), textOf(added)];
  const [red, green] = [paintOf(removed, colours), paintOf(added, colours)];
  const whole: readonly [Span[], Span[]] = [
    [{ text: old, paint: red }],
    [{ text: now, paint: green }],
  ];
  if (Math.max(old.length, now.length) > MAX_WORDS_LENGTH) return whole;
  const edits = editScript(wordsOf(old), wordsOf(now));
  const same = edits.reduce((sum, { type, text }) => sum + (type === "same" ? text.length : 0), 0);
  if (same < MIN_SAME * Math.max(old.length, now.length)) return whole;
  const strong =
    (paint: Paint): Paint =>
    (text) =>
      colours.inverse(paint(text));
  const [strongRed, strongGreen] = [strong(red), strong(green)];
  return [
    edits.flatMap(({ type, text }) =>
      type === "added" ? [] : [{ text, paint: type === "same" ? red : strongRed }],
    ),
    edits.flatMap(({ type, text }) =>
      type === "removed" ? [] : [{ text, paint: type === "same" ? green : strongGreen }],
    ),
  ];
}

function wordsOf(text: string): string[] {
  return text.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];
}

function textOf({ text }: DiffLine): string {
  const cut = text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text;
  return printable(cut.replaceAll(/\p{Surrogate}/gu, "\ufffd")).replaceAll("\n", "\u240a");
}
