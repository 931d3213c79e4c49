/** Turns tool calls into cards: while they run, and what is worth knowing after. */
import type { Colours } from "../screen/colours.ts";
import { cardLines, type CardState, type ToolCard } from "../screen/text/card.ts";
import { unifiedDiffLines } from "../screen/text/diff-lines.ts";
import { describeCall } from "../tools/describe-call.ts";
import { oneLine } from "../terminal.ts";
import type { ToolBlock } from "./block.ts";
import type { LiveCall } from "./state.ts";

const MAX_TITLE = 300;

/** A call in one line, for lists. */
export function callTitle(name: string, args: unknown): string {
  return oneLine(describeCall(name, args), MAX_TITLE);
}

export function liveCallLines(
  { name, args, startedAt, tail, bytes, within }: LiveCall,
  columns: number,
  now: number,
  colours: Colours,
): string[] {
  const card: ToolCard = {
    tool: toolName(name, within),
    args,
    state: { type: "running", ms: Math.max(0, now - startedAt), bytes },
    ...(tail !== "" && { output: { text: tail } }),
  };
  return cardLines(card, columns, colours);
}

export function toolLines(
  block: ToolBlock,
  columns: number,
  colours: Colours,
  unfold?: string,
): string[] {
  const { name, args, within, details } = block;
  const { diff, path, fullOutputPath } = detailsOf(details);
  const card: ToolCard = {
    tool: toolName(name, within),
    args,
    state: stateOf(block),
    ...(unfold !== undefined && { unfold }),
    output: {
      text: outputOf(block),
      ...(typeof fullOutputPath === "string" && { path: fullOutputPath }),
    },
    ...(typeof diff === "string" && {
      details: (width) => unifiedDiffLines(diff, String(path), width, colours),
    }),
  };
  return cardLines(card, columns, colours);
}

/** The state says already that a command was stopped; the model needs the sentence. */
function outputOf({ outcome, text }: ToolBlock): string {
  return outcome === "stopped"
    ? text.replace(/^(?:Error: )?The command was stopped[^\n]*\n/, "")
    : text;
}

function toolName(name: string, within: string | undefined): string {
  return within === undefined ? oneLine(name, 60) : oneLine(`${within}: ${name}`, 120);
}

/** Says truly what became of a call. */
function stateOf({ outcome, isError, ms, text, details }: ToolBlock): CardState {
  switch (outcome) {
    case "finished":
    case "failed":
      return isError || outcome === "failed"
        ? { type: "failed", ms, ...exitOf(details) }
        : { type: "ok", ms };
    case "stopped":
      return { type: "killed", ms };
    case "left_running":
      return { type: "failed", ms, reason: "still running; it ignored the interrupt" };
    case "not_started":
      return /^Denied\b|^Plan mode\b/.test(text) ? { type: "denied" } : { type: "not-started" };
    case "unknown":
      return { type: "unknown" };
  }
}

interface Details {
  readonly exitCode?: unknown;
  readonly signal?: unknown;
  readonly fullOutputPath?: unknown;
  readonly diff?: unknown;
  readonly path?: unknown;
}

function detailsOf(details: unknown): Details {
  return typeof details === "object" && details !== null ? details : {};
}

function exitOf(details: unknown): { readonly reason?: string } {
  const { exitCode, signal } = detailsOf(details);
  if (typeof signal === "string") return { reason: oneLine(signal, 20) };
  return typeof exitCode === "number" ? { reason: `exit code ${exitCode}` } : {};
}
