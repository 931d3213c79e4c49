/** Draws a tool call: its title, its state in words, and the end of its output. Pure functions. */
import { escapeText } from "../../escape.ts";
import { printable } from "../../terminal.ts";
import type { Colours } from "../colours.ts";
import { cutToWidth, plainText, textWidth } from "../width.ts";
import { bytesText, countText, durationText } from "./amounts.ts";
import { callTitle } from "./call-title.ts";
import { wrapCode } from "./wrap-code.ts";
import { wrapStyled } from "./wrap.ts";

export type CardState =
  | { readonly type: "waiting" }
  | { readonly type: "running"; readonly ms: number; readonly bytes: number }
  | { readonly type: "ok"; readonly ms: number }
  | { readonly type: "failed"; readonly ms: number; readonly reason?: string }
  | {
      readonly type: "killed";
      readonly ms: number;
      readonly signal?: string;
      readonly exitCode?: number;
    }
  | { readonly type: "not-started"; readonly reason?: string }
  | { readonly type: "denied"; readonly reason?: string }
  | { readonly type: "unknown"; readonly reason?: string };

export interface ToolCard {
  readonly tool: string;
  readonly args: unknown;
  readonly state: CardState;
  readonly output?: {
    /** The output, or its end. Secrets are removed by the caller. */
    readonly text: string;
    /** Lines of the whole output, if `text` is not all of it. */
    readonly lines?: number;
    readonly path?: string;
  };
  /** How hidden lines can be read, such as "Ctrl-O shows them". */
  readonly unfold?: string;
  /** Draws more of the call, such as a diff. Always shown. */
  readonly details?: (columns: number) => readonly string[];
  /** Shows all lines of `output.text` instead of the last five. */
  readonly isUnfolded?: boolean;
  /** The calls of a sub-agent. */
  readonly cards?: readonly ToolCard[];
}

const LAST_LINES = 5;
const MAX_UNFOLDED = 2000;
const MAX_LINE = 2000;
const MAX_DEPTH = 5;
const INDENT = 2;

export function cardLines(card: ToolCard, columns: number, colours: Colours): string[] {
  return drawCard(card, columns, colours, 0);
}

function drawCard(card: ToolCard, columns: number, colours: Colours, depth: number): string[] {
  const { state, output, details, cards = [] } = card;
  const indent = Math.min(depth, MAX_DEPTH, Math.floor(columns / 8)) * INDENT;
  const inner = columns - indent - INDENT;
  const all = outputLines(output?.text ?? "");
  const count = shownLines(card);
  const shown = count === 0 ? [] : all.slice(-count);
  const isLive = state.type === "running";
  // A diff stands for the line that reports it.
  const isShownAsDetails = details !== undefined && count === 0;
  const hidden = isShownAsDetails ? 0 : Math.max(all.length, output?.lines ?? 0) - shown.length;
  const rows = shown.flatMap((line) =>
    isLive ? [cutLine(line, inner)] : wrapCode(line, inner, colours),
  );
  const body = [
    ...rows.map((row) => colours.dim(row)),
    ...(details?.(inner) ?? []),
    ...wrapStyled(stateText(state, colours) + hiddenText(hidden, card), inner),
  ];
  return [
    ...titleLines(card, columns - indent, colours).map((row) => " ".repeat(indent) + row),
    ...cards.flatMap((nested) => drawCard(nested, columns, colours, depth + 1)),
    ...body.map((row) => `${" ".repeat(indent + INDENT)}${row}`.trimEnd()),
  ];
}

function titleLines({ tool, args }: ToolCard, columns: number, { bold, dim }: Colours): string[] {
  const title = callTitle(tool, args);
  const main = title.main === "" ? "" : ` ${title.main}`;
  const rest = title.rest === "" ? "" : ` ${dim(title.rest)}`;
  return wrapStyled(`${main}${rest}`.trimStart(), columns, { mark: `${bold(title.tool)} ` });
}

/** A command shows its end; of a file that was read, the number of lines is enough. */
function shownLines({ state, args, isUnfolded = false }: ToolCard): number {
  if (isUnfolded) return MAX_UNFOLDED;
  const isCommand = typeof args === "object" && args !== null && "command" in args;
  return state.type === "ok" && !isCommand ? 0 : LAST_LINES;
}

/** The words tell the states apart, not the colours. */
function stateText(state: CardState, { green, red, yellow, dim }: Colours): string {
  switch (state.type) {
    case "waiting":
      return yellow("waiting for approval");
    case "running":
      return `running · ${durationText(state.ms)} · ${bytesText(state.bytes)}`;
    case "ok":
      return `${green("ok")} · ${durationText(state.ms)}`;
    case "failed":
      return `${red("failed")} · ${durationText(state.ms)}${because(state.reason)}`;
    case "killed":
      return red(`killed after ${durationText(state.ms)}`) + killedBy(state);
    case "not-started":
      return `${dim("not started")}${because(state.reason)}`;
    case "denied":
      return `${red("denied")}${because(state.reason)}`;
    case "unknown":
      return `${yellow("unknown")}${because(state.reason ?? "the program ended before the call did")}`;
  }
}

function killedBy({ signal, exitCode }: Extract<CardState, { type: "killed" }>): string {
  const parts = [
    ...(signal === undefined ? [] : [escapeText(signal)]),
    ...(exitCode === undefined ? [] : [`exit ${exitCode}`]),
  ];
  return parts.length === 0 ? "" : ` (${parts.join(", ")})`;
}

function because(reason: string | undefined): string {
  return reason === undefined || reason === "" ? "" : ` · ${escapeText(reason)}`;
}

function hiddenText(hidden: number, { output, state, unfold }: ToolCard): string {
  if (hidden <= 0) return "";
  const where = output?.path === undefined ? "" : `, full output in ${escapeText(output.path)}`;
  const how = unfold === undefined || where !== "" || state.type === "running" ? "" : `, ${unfold}`;
  return ` · ${countText(hidden, "line")} hidden${where}${how}`;
}

/** Returns lines without escape sequences. Of text that was written over, the last one counts. */
function outputLines(text: string): string[] {
  const lines = plainText(text).replaceAll("\r\n", "\n").replace(/\n+$/, "").split("\n");
  if (lines.length === 1 && lines[0] === "") return [];
  return lines.map((line) => {
    const last = line.replace(/\r+$/, "").split("\r").at(-1) ?? "";
    const cut = last.length > MAX_LINE ? `${last.slice(0, MAX_LINE)}…` : last;
    return printable(cut.replaceAll(/\p{Surrogate}/gu, "\ufffd")).replaceAll("\t", "    ");
  });
}

function cutLine(line: string, columns: number): string {
  return textWidth(line) <= columns ? line : `${cutToWidth(line, columns - 1)}…`;
}
