// Writes events as servers do, in one style for a whole answer.
import * as fc from "fast-check";
import { toAscii } from "./values.mjs";

/** Comments, and fields that clients ignore. */
const line = fc.constantFrom(
  ": keep-alive",
  ":",
  ": OPENROUTER PROCESSING",
  ": {}",
  "id: 7",
  "retry: 3000",
);

export const framing = fc.record({
  newline: fc.constantFrom("\n", "\n", "\r\n"),
  isAscii: fc.boolean(),
  /** The event that the line precedes, the line, and whether a blank line follows it. */
  lines: fc.array(fc.tuple(fc.nat(99), line, fc.boolean()), { maxLength: 3 }),
  /** The space after a field's colon. */
  gap: fc.constantFrom(" ", " ", ""),
});

/**
 * Data lines only. Google sends no others, and its client drops an event that follows another line.
 */
export const plainFraming = framing.map((options) => ({ ...options, lines: [] }));

/**
 * Writes each event as its data, after an `event:` line with `name` if there is one. Data that is a
 * text is written as it is.
 */
export function writeStream(events, { newline, isAscii, lines: others, gap }) {
  const blocks = events.map(({ name, data }) => {
    const json = typeof data === "string" ? data : JSON.stringify(data);
    return [
      ...(name === undefined ? [] : [`event:${gap}${name}`]),
      `data:${gap}${isAscii ? toAscii(json) : json}`,
      "",
    ];
  });
  for (const [place, other, isApart] of others)
    blocks[place % blocks.length].unshift(other, ...(isApart ? [""] : []));
  return blocks.map((lines) => lines.map((one) => one + newline).join("")).join("");
}

/**
 * Merges lists. Each list keeps its order, and the lists begin in the given order. A choice selects
 * among the unfinished lists that have begun and the next that may begin. No choice, or 0, selects
 * the first of them.
 */
export function merge(lists, choices) {
  const rests = lists.map((list) => [...list]);
  const merged = [];
  let begun = 0;
  for (let n = 0; ; n++) {
    const open = rests.slice(0, begun).filter((rest) => rest.length > 0);
    const waiting = rests[begun];
    if (waiting !== undefined) open.push(waiting);
    if (open.length === 0) return merged;
    const chosen = open[(choices[n] ?? 0) % open.length];
    if (chosen === waiting) begun++;
    if (chosen.length > 0) merged.push(chosen.shift());
  }
}
