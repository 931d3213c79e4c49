// How events are written: as servers do, one way for a whole answer.
import * as fc from "fast-check";
import { toAscii } from "./values.mjs";

/** Comments, and fields of which no client makes anything. */
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
  /** Before the event at a place; whether a blank line follows. */
  lines: fc.array(fc.tuple(fc.nat(99), line, fc.boolean()), { maxLength: 3 }),
  /** What stands behind a field's colon. */
  gap: fc.constantFrom(" ", " ", ""),
});

/**
 * Nothing but data: Google sends nothing else, and its client drops an event that has another line
 * before it.
 */
export const plainFraming = framing.map((options) => ({ ...options, lines: [] }));

/**
 * An event is its data, with the `event:` name that stands in `name`. Data that is text is written
 * as it is.
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
 * Several lists as one, each in its own order; they begin in the order in which they stand. A
 * choice says which of those that have begun, or which may begin, goes on: none, or 0, is the first
 * that is not over.
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
