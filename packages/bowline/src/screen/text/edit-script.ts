/** Finds a short way from one list to another (Myers' algorithm, with a bound). */

export interface Edit {
  readonly type: "same" | "removed" | "added";
  readonly text: string;
}

/** More differences than this are not aligned: all is removed, then all is added. */
const MAX_DIFFERENCES = 500;

export function editScript(before: readonly string[], after: readonly string[]): Edit[] {
  let start = 0;
  const shorter = Math.min(before.length, after.length);
  while (start < shorter && before[start] === after[start]) start++;
  let end = 0;
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  const same = (text: string): Edit => ({ type: "same", text });
  return [
    ...before.slice(0, start).map(same),
    ...middle(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...before.slice(before.length - end).map(same),
  ];
}

function middle(before: readonly string[], after: readonly string[]): Edit[] {
  const trace = before.length === 0 || after.length === 0 ? undefined : search(before, after);
  if (trace === undefined)
    return [
      ...before.map((text): Edit => ({ type: "removed", text })),
      ...after.map((text): Edit => ({ type: "added", text })),
    ];
  return walkBack(before, after, trace);
}

/** Returns the furthest places per number of differences, or undefined beyond the bound. */
function search(before: readonly string[], after: readonly string[]): Int32Array[] | undefined {
  const most = Math.min(MAX_DIFFERENCES, before.length + after.length);
  const furthest = new Int32Array(2 * most + 3);
  const trace: Int32Array[] = [];
  for (let differences = 0; differences <= most; differences++) {
    trace.push(furthest.slice(most - differences, most + differences + 3));
    for (let k = -differences; k <= differences; k += 2) {
      const at = most + 1 + k;
      const isDown =
        k === -differences ||
        (k !== differences && (furthest[at - 1] ?? 0) < (furthest[at + 1] ?? 0));
      let x = isDown ? (furthest[at + 1] ?? 0) : (furthest[at - 1] ?? 0) + 1;
      while (x < before.length && x - k < after.length && before[x] === after[x - k]) x++;
      furthest[at] = x;
      if (x >= before.length && x - k >= after.length) return trace;
    }
  }
  return undefined;
}

function walkBack(
  before: readonly string[],
  after: readonly string[],
  trace: readonly Int32Array[],
): Edit[] {
  const edits: Edit[] = [];
  let [x, y] = [before.length, after.length];
  for (let differences = trace.length - 1; differences >= 0; differences--) {
    const furthest = trace[differences] as Int32Array;
    const middleAt = differences + 1;
    const k = x - y;
    const [left = 0, right = 0] = [furthest[middleAt + k - 1], furthest[middleAt + k + 1]];
    const isDown = k === -differences || (k !== differences && left < right);
    const fromX = differences === 0 ? 0 : isDown ? right : left;
    const fromY = differences === 0 ? 0 : fromX - (isDown ? k + 1 : k - 1);
    while (x > fromX && y > fromY) {
      edits.push({ type: "same", text: before[x - 1] ?? "" });
      [x, y] = [x - 1, y - 1];
    }
    if (differences === 0) break;
    if (isDown) edits.push({ type: "added", text: after[y - 1] ?? "" });
    else edits.push({ type: "removed", text: before[x - 1] ?? "" });
    [x, y] = [fromX, fromY];
  }
  return edits.toReversed();
}
