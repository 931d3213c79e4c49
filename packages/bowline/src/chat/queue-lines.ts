/** Draws the messages that wait: a line for each, with its number and its moment. */
import type { Colours } from "../screen/colours.ts";
import { fitParts } from "../screen/status-row.ts";
import { cutToWidth } from "../screen/width.ts";
import { oneLine } from "../terminal.ts";
import type { ChatState, Queued } from "./state.ts";
import { momentWords } from "./waiting-text.ts";

/** More messages are counted. */
const MAX_ROWS = 5;

/** With little room, one message and a count. */
export function queueLines(
  { queue, aside, phase }: Pick<ChatState, "queue" | "aside" | "phase">,
  columns: number,
  hasRoom: boolean,
  { dim }: Pick<Colours, "dim">,
): string[] {
  const { length } = queue;
  if (length === 0) return [];
  const edited = queue.findIndex(({ isEdited }) => isEdited === true);
  const focus = edited < 0 ? length - 1 : edited;
  const rows = queue.map(rowOf);
  const first = Math.max(0, Math.min(focus - (MAX_ROWS >> 1), length - MAX_ROWS));
  const shown = rows.slice(first, first + MAX_ROWS);
  const hidden = length - shown.length;
  const lines = hasRoom
    ? [
        ...shown,
        ...(hidden > 0 ? [`${hidden} more wait; /queue lists all`] : []),
        ...(aside === undefined ? [] : [`your draft waits: ${oneLine(aside, 400)}`]),
        keysRow(queue[edited], phase, columns),
      ]
    : [length === 1 ? rows[focus] : `${length} wait: ${rows[focus]}`];
  return lines.map((line = "") => dim(cutToWidth(line, columns).trimEnd()));
}

function rowOf({ id, moment, text, isEdited }: Queued): string {
  const words = momentWords[moment];
  return isEdited === true
    ? `${id}. (in the draft, ${words})`
    : `${id}. ${words}: ${oneLine(text, 400)}`;
}

function keysRow(edited: Queued | undefined, phase: ChatState["phase"], columns: number): string {
  if (edited === undefined)
    return fitParts(
      [
        { text: "Alt-Up edits or removes one", short: "Alt-Up edits one", priority: 2 },
        { text: "/queue lists them", priority: 1 },
      ],
      columns,
    );
  const isOver = phase === "idle";
  const other = { steering: momentWords.followUp, followUp: momentWords.steering, early: "" };
  const parts = [
    { text: isOver ? "Enter sends it" : "Enter puts it back", priority: 4 },
    { text: "Ctrl-X removes it", priority: 3 },
    { text: "Alt-Up, Alt-Down: the next", priority: 1 },
    ...(isOver || edited.moment === "early"
      ? []
      : [{ text: `Alt-Enter: ${other[edited.moment]}`, priority: 2 }]),
  ];
  return fitParts(parts, columns);
}
