/** Draws the state of a conversation as live lines, above the draft. */
import type { Colours } from "../screen/colours.ts";
import { wrapStyled } from "../screen/text/wrap.ts";
import { cutToWidth } from "../screen/width.ts";
import { oneLine, printable } from "../terminal.ts";
import type { ChatState, LiveAnswer } from "./state.ts";
import { bytesText, durationText, plural, tokensText } from "./text.ts";
import { liveCallLines } from "./tool-lines.ts";

const THINKING_ROWS = 3;

/** What goes on now: thinking, calls, waits. */
export function activityLines(
  state: ChatState,
  columns: number,
  now: number,
  colours: Colours,
): string[] {
  const { answer, calls, compacting, phase, asked } = state;
  const { dim, yellow } = colours;
  const lines: string[] = [];
  if (answer?.isThinking === true) lines.push(...thinkingLines(answer, columns, colours));
  for (const call of calls) {
    // The question about a call stands below.
    if (!asked.some(({ toolCallId }) => toolCallId === call.id))
      lines.push(...liveCallLines(call, columns, now, colours));
  }
  if (compacting !== undefined)
    lines.push(
      yellow(
        `compacting ${tokensText(compacting.before)} tokens · ${durationText(now - compacting.since)}`,
      ),
    );
  if (phase === "interrupting") lines.push(yellow("interrupting…"));
  else if (answer !== undefined && calls.length === 0 && compacting === undefined)
    lines.push(...waitLines(answer, now, dim, yellow));
  return lines.map((line) => cutToWidth(line, columns));
}

function thinkingLines(
  { thinking, words }: LiveAnswer,
  columns: number,
  { dim }: Colours,
): string[] {
  const rows = wrapStyled(printable(thinking.trim()), columns).slice(-THINKING_ROWS);
  return [dim(`thinking · ${plural(words, "word")}`), ...rows.map(dim)];
}

function waitLines(
  { since, writing, retry, isThinking }: LiveAnswer,
  now: number,
  dim: Colours["dim"],
  yellow: Colours["yellow"],
): string[] {
  const elapsed = durationText(now - since);
  if (retry !== undefined) {
    const left = Math.max(0, retry.until - now);
    return [yellow(`retry ${retry.attempt} in ${Math.ceil(left / 1000)} s · Esc gives up`)];
  }
  if (writing !== undefined)
    return [
      dim(
        `writing a call of ${oneLine(writing.name, 60)} · ${bytesText(writing.bytes)} · ${elapsed}`,
      ),
    ];
  return isThinking ? [] : [dim(`working · ${elapsed} · Esc interrupts`)];
}
