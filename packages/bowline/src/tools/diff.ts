/** Creates a unified diff, for people, from replacements at known positions. */
import { cutText } from "../escape.ts";
import type { Span } from "./find-text.ts";

const CONTEXT = 3;
const MAX_LINES = 400;
const MAX_LINE = 500;

/** Replaces lines `first` to `first + old.length - 1` (from 0) with `now`. */
interface Change {
  first: number;
  old: string[];
  now: string[];
}

/**
 * Creates the diff. `text` has LF line endings; `spans` are ascending and do not overlap. The size
 * of the result is bounded.
 */
export function unifiedDiff(
  path: string,
  text: string,
  spans: readonly Span[],
  replacement: string,
): string {
  const lines = text.split("\n");
  const count = lines.at(-1) === "" ? lines.length - 1 : lines.length;
  const out = [`--- ${path}`, `+++ ${path}`];
  const add = (mark: string, added: readonly string[]): void => {
    for (const line of added.slice(0, Math.max(0, MAX_LINES - out.length)))
      out.push(mark + cutText(line, MAX_LINE));
  };
  let shift = 0;
  for (const hunk of toHunks(toChanges(text, spans, replacement))) {
    const [first, last] = [hunk[0] as Change, hunk.at(-1) as Change];
    const start = Math.max(0, first.first - CONTEXT);
    const end = Math.max(
      last.first + last.old.length,
      Math.min(count, last.first + last.old.length + CONTEXT),
    );
    const grown = hunk.reduce((sum, { old, now }) => sum + now.length - old.length, 0);
    out.push(`@@ -${start + 1},${end - start} +${start + 1 + shift},${end - start + grown} @@`);
    let at = start;
    for (const { first: place, old, now } of hunk) {
      add(" ", lines.slice(at, place));
      add("-", old);
      add("+", now);
      at = place + old.length;
    }
    add(" ", lines.slice(at, end));
    shift += grown;
    if (out.length >= MAX_LINES) return `${out.join("\n")}\n[the rest of the diff is left out]\n`;
  }
  return `${out.join("\n")}\n`;
}

/**
 * Widens spans to whole lines. Spans that share a line become one change; unchanged lines are
 * dropped. O(text).
 */
function toChanges(text: string, spans: readonly Span[], replacement: string): Change[] {
  const changes: Change[] = [];
  let [line, at] = [0, 0];
  for (let index = 0; index < spans.length;) {
    const { start } = spans[index] as Span;
    const lineStart = start === 0 ? 0 : text.lastIndexOf("\n", start - 1) + 1;
    for (; at < lineStart; at++) if (text.charCodeAt(at) === 10) line++;
    let [now, from, lineEnd] = ["", lineStart, lineStart];
    for (
      let span = spans[index];
      span !== undefined && (from === lineStart || span.start <= lineEnd);
      span = spans[++index]
    ) {
      now += text.slice(from, span.start) + replacement;
      from = span.end;
      const newline = text.indexOf("\n", from);
      lineEnd = newline === -1 ? text.length : newline;
    }
    const change = {
      first: line,
      old: text.slice(lineStart, lineEnd).split("\n"),
      now: (now + text.slice(from, lineEnd)).split("\n"),
    };
    changes.push(trimmed(change));
  }
  return changes;
}

function trimmed({ first, old, now }: Change): Change {
  let same = 0;
  while (same < Math.min(old.length, now.length) && old[same] === now[same]) same++;
  let tail = 0;
  while (tail < Math.min(old.length, now.length) - same && old.at(-1 - tail) === now.at(-1 - tail))
    tail++;
  return {
    first: first + same,
    old: old.slice(same, old.length - tail),
    now: now.slice(same, now.length - tail),
  };
}

/** Groups changes with overlapping context into hunks. */
function toHunks(changes: readonly Change[]): Change[][] {
  const hunks: Change[][] = [];
  for (const change of changes) {
    const hunk = hunks.at(-1);
    const before = hunk?.at(-1);
    if (
      hunk !== undefined &&
      before !== undefined &&
      change.first - (before.first + before.old.length) <= 2 * CONTEXT
    )
      hunk.push(change);
    else hunks.push([change]);
  }
  return hunks;
}
