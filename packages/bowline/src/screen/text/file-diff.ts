/** A change of one file as data, from two texts or from a unified diff. */
import { editScript, type Edit } from "./edit-script.ts";

export interface DiffLine {
  readonly type: "same" | "removed" | "added" | "note";
  readonly text: string;
  /** The line's number: in the old file if it was removed, else in the new one. */
  readonly number: number;
}

export interface FileDiff {
  readonly path: string;
  readonly type: "changed" | "created" | "deleted" | "binary" | "unchanged";
  readonly hunks: readonly (readonly DiffLine[])[];
}

const CONTEXT = 3;
const NO_NEWLINE = "No newline at end of file";

/** Compares texts. Undefined: the file did not exist, or does not any more. */
export function compareTexts(
  path: string,
  before: string | undefined,
  after: string | undefined,
): FileDiff {
  if (before === after) return { path, type: "unchanged", hunks: [] };
  if (before?.includes("\0") === true || after?.includes("\0") === true)
    return { path, type: "binary", hunks: [] };
  const isWindows = [before, after].every((text) => text === undefined || !/(?<!\r)\n/.test(text));
  const edits = editScript(linesOf(before, isWindows), linesOf(after, isWindows));
  const type = before === undefined ? "created" : after === undefined ? "deleted" : "changed";
  return { path, type, hunks: toHunks(numbered(edits)) };
}

/** Reads the diff of the edit tool. Lines that are no diff become notes. */
export function parseDiff(path: string, diff: string): FileDiff {
  const hunks: DiffLine[][] = [];
  let [old, now] = [1, 1];
  for (const line of diff.replace(/\n$/, "").split("\n")) {
    const [, oldStart, newStart] = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(line) ?? [];
    if (oldStart !== undefined) {
      [old, now] = [Number(oldStart), Number(newStart)];
      hunks.push([]);
      continue;
    }
    const hunk = hunks.at(-1);
    if (hunk === undefined) continue;
    const text = line.slice(1);
    if (line.startsWith("-")) hunk.push({ type: "removed", text, number: old++ });
    else if (line.startsWith("+")) hunk.push({ type: "added", text, number: now++ });
    else if (line.startsWith(" ") || line === "") {
      hunk.push({ type: "same", text, number: now++ });
      old++;
    } else hunk.push({ type: "note", text: line.replace(/^\\ /, ""), number: 0 });
  }
  return { path, type: "changed", hunks };
}

/** A last line without a line feed ends in a mark, so that it differs from one with it. */
function linesOf(text: string | undefined, isWindows: boolean): string[] {
  if (text === undefined || text === "") return [];
  const lines = (isWindows ? text.replaceAll("\r\n", "\n") : text).split("\n");
  const last = lines.pop() ?? "";
  return last === "" ? lines : [...lines, `${last}\0`];
}

function numbered(edits: readonly Edit[]): DiffLine[] {
  let [old, now] = [1, 1];
  return edits.flatMap(({ type, text }): DiffLine[] => {
    const line = { type, text: text.replace("\0", ""), number: type === "removed" ? old : now };
    if (type !== "added") old++;
    if (type !== "removed") now++;
    return text.endsWith("\0") ? [line, { type: "note", text: NO_NEWLINE, number: 0 }] : [line];
  });
}

/** Keeps the changed lines and three lines around them. */
function toHunks(lines: readonly DiffLine[]): DiffLine[][] {
  const changed = lines.flatMap(({ type }, index) =>
    type === "removed" || type === "added" ? [index] : [],
  );
  const hunks: DiffLine[][] = [];
  let end = -1;
  for (const index of changed) {
    const from = Math.max(0, index - CONTEXT);
    const to = Math.min(lines.length, index + CONTEXT + 1);
    if (from > end || hunks.length === 0) hunks.push(lines.slice(from, to));
    else hunks.at(-1)?.push(...lines.slice(end, to));
    end = Math.max(end, to);
  }
  return hunks;
}
