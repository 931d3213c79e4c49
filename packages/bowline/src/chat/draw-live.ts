/** Lays out the live area: what goes on, a question, queued messages, the draft, the status row. */
import type { Colours } from "../screen/colours.ts";
import type { Editor } from "../screen/editor/editor.ts";
import type { Live } from "../screen/screen.ts";
import { fitParts } from "../screen/status-row.ts";
import { textWidth } from "../screen/width.ts";
import { activityLines } from "./live-view.ts";
import { queueLines } from "./queue-lines.ts";
import type { Question } from "./question.ts";
import type { ChatState } from "./state.ts";
import { statusParts } from "./status.ts";
import type { View } from "./view.ts";

/** Rows of a streaming answer that are shown before they are finished. */
const MIN_TAIL_ROWS = 2;
/** The live area has a third of the window. */
const WINDOW_IN_LIVE_AREAS = 3;
/** The narrowest window, in columns, in which the live rows must still have room. */
const NARROW = 40;

export interface LiveParts {
  readonly state: ChatState;
  readonly view: Pick<View, "tail"> | undefined;
  readonly editor: Editor;
  readonly question: Pick<Question, "draw"> | undefined;
  readonly colours: Colours;
  readonly now: number;
}

/** Rows beyond `maxRows` are cut from the top by the screen, so that the draft stays visible. */
export function drawLive(parts: LiveParts, columns: number, maxRows: number): Live {
  const { state, view, editor, question, colours, now } = parts;
  const hint = state.hint === undefined ? [] : [colours.yellow(state.hint)];
  // Rows for the draft, the status and a queued message. A question shows its focus in any case.
  const draftRows = Math.min(editor.text().split("\n").length, Math.floor(maxRows / 2));
  const others = draftRows + 1 + hint.length;
  const dialogRows = Math.max(2, maxRows - others - Math.min(1, state.queue.length));
  const dialog = question?.draw(columns, !editor.isEmpty, now, colours, dialogRows) ?? [];
  const queue = queueLines(state, columns, dialog.length === 0, colours);
  const below = [...dialog, ...queue, ...hint];
  const activity = activityLines(state, columns, now, colours);
  // A question stays whole beside a long draft. A menu gets what nothing else needs.
  const rest = maxRows - below.length - 1;
  const isWide = dialog.length > 0 || editor.isMenuOpen;
  const room = isWide ? rest - (dialog.length > 0 ? 0 : activity.length) : Math.floor(maxRows / 2);
  const draft = editor.draw(columns, Math.max(dialog.length === 0 ? 3 : 1, room));
  const status = fitParts(statusParts(state, now), columns);
  const used = activity.length + below.length + draft.lines.length + 1;
  const all = view?.tail(Math.max(MIN_TAIL_ROWS, maxRows - used)) ?? [];
  const others40 = rowsAt(NARROW, [...activity, ...below, ...draft.lines, status]);
  const tail = unspilled(all, WINDOW_IN_LIVE_AREAS * maxRows - 1 - others40);
  const above = [...tail, ...activity, ...below];
  const lines = [...above, ...draft.lines, colours.dim(status)];
  if (draft.cursor === undefined) return { lines };
  const { row, column } = draft.cursor;
  return { lines, cursor: { row: row + above.length, column } };
}

/**
 * Returns the last rows of the tail that fit in `room` rows of a narrow window, one at least. A
 * window that becomes narrow wraps the live rows; what then leaves it at the top is in the
 * scrollback, where it cannot be erased, and the finished answer has it again.
 */
function unspilled(tail: readonly string[], room: number): readonly string[] {
  let first = tail.length - 1;
  while (first > 0 && rowsAt(NARROW, tail.slice(first - 1)) <= room) first -= 1;
  return tail.slice(Math.max(0, first));
}

function rowsAt(columns: number, lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(textWidth(line) / columns)), 0);
}

/** The state in words, for a screen that only appends lines. */
export function stateWords(state: ChatState, isAnswering: boolean): string {
  const { phase, asked, compacting, answer } = state;
  if (phase === "starting") return "Finding a model.";
  if (asked.length > 0) return "";
  if (compacting !== undefined) return "Compacting the conversation.";
  if (phase === "interrupting") return "Interrupting.";
  if (answer?.retry !== undefined) return "Waiting to retry.";
  if (isAnswering) return ""; // a line in the middle of an answer would look like a part of it
  return phase === "working" ? "Working. Ctrl-C interrupts." : "Ready.";
}
