/** Lays out the live area: what goes on, a question, queued messages, the draft, the status row. */
import type { Colours } from "../screen/colours.ts";
import type { Editor } from "../screen/editor/editor.ts";
import type { Live } from "../screen/screen.ts";
import { fitParts } from "../screen/status-row.ts";
import { activityLines, queueLines } from "./live-view.ts";
import type { Question } from "./question.ts";
import type { ChatState } from "./state.ts";
import { statusParts } from "./status.ts";
import type { View } from "./view.ts";

/** Rows of a streaming answer that are shown before they are finished. */
const MIN_TAIL_ROWS = 2;

export interface LiveParts {
  readonly state: ChatState;
  readonly view: View | undefined;
  readonly editor: Editor;
  readonly question: Pick<Question, "draw"> | undefined;
  readonly colours: Colours;
  readonly now: number;
}

/** Rows beyond `maxRows` are cut from the top by the screen, so that the draft stays visible. */
export function drawLive(parts: LiveParts, columns: number, maxRows: number): Live {
  const { state, view, editor, question, colours, now } = parts;
  const isTight = editor.text().split("\n").length > 1;
  const dialog = question?.draw(columns, !editor.isEmpty, now, colours, isTight) ?? [];
  const hint = state.hint === undefined ? [] : [colours.yellow(state.hint)];
  const queue = queueLines(state.queue, columns, dialog.length === 0, colours);
  const below = [...dialog, ...queue, ...hint];
  // A question stays whole beside a long draft.
  const room = dialog.length === 0 ? Math.floor(maxRows / 2) : maxRows - below.length - 1;
  const draft = editor.draw(columns, Math.max(dialog.length === 0 ? 3 : 1, room));
  const status = fitParts(statusParts(state, now), columns);
  const activity = activityLines(state, columns, now, colours);
  const used = activity.length + below.length + draft.lines.length + 1;
  const tail = view?.tail(Math.max(MIN_TAIL_ROWS, maxRows - used)) ?? [];
  const above = [...tail, ...activity, ...below];
  const lines = [...above, ...draft.lines, colours.dim(status)];
  if (draft.cursor === undefined) return { lines };
  const { row, column } = draft.cursor;
  return { lines, cursor: { row: row + above.length, column } };
}

/** The state in words, for a screen that only appends lines. */
export function stateWords({ phase, asked, compacting, answer }: ChatState): string {
  if (phase === "starting") return "Finding a model.";
  if (asked.length > 0) return "";
  if (compacting !== undefined) return "Compacting the conversation.";
  if (phase === "interrupting") return "Interrupting.";
  if (answer?.retry !== undefined) return "Waiting to retry.";
  return phase === "working" ? "Working. Ctrl-C interrupts." : "Ready.";
}
