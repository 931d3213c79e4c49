/** Draws the question for an approval: exactly what will run, why it asks, what is remembered. */
import { escapeLines, escapeText } from "../../escape.ts";
import type { Colours } from "../colours.ts";
import { callTitle } from "./call-title.ts";
import { wrapCode } from "./wrap-code.ts";
import { wrapStyled } from "./wrap.ts";

export interface ApprovalView {
  readonly tool: string;
  readonly args: unknown;
  /** Why a person is asked: the rule, or that no rule allows the call. */
  readonly reason: string;
  /** The commands or paths that were found in the call. */
  readonly parts?: readonly string[];
  /** Rules that could be saved, each with a line on what else it allows. */
  readonly rules?: readonly { readonly rule: string; readonly also: string }[];
  /** Draws the change, if the call changes a file. Stands for its texts. */
  readonly details?: (columns: number) => readonly string[];
}

/** The call is complete: a person must see all of what they allow. */
export function approvalLines(view: ApprovalView, columns: number, colours: Colours): string[] {
  const { reason, parts = [], rules = [], details } = view;
  const label = (name: string, text: string): string[] =>
    wrapStyled(escapeText(text), columns, { mark: `${colours.bold(name)} ` });
  return [
    ...wrapStyled(`${colours.bold(escapeText(view.tool))} asks to ${verbOf(view)}:`, columns),
    ...callLines(view, columns, colours),
    ...(details?.(columns) ?? []),
    ...label("Why it asks:", reason),
    ...(parts.length > 1 ? label("Parts:", parts.join(" | ")) : []),
    ...rules.flatMap(({ rule, also }) => [
      ...label("Would be remembered:", rule),
      ...wrapStyled(`also allows: ${escapeText(also)}`, columns, { indent: 2 }),
    ]),
  ];
}

function verbOf({ tool, args }: ApprovalView): string {
  const has = (name: string): boolean => typeof args === "object" && args !== null && name in args;
  if (has("command")) return "run";
  if (tool === "write" || tool === "edit") return "change";
  return has("path") || has("pattern") ? "read" : "be called with";
}

function callLines(
  { tool, args, details }: ApprovalView,
  columns: number,
  colours: Colours,
): string[] {
  if (typeof args !== "object" || args === null || Array.isArray(args))
    return marked(" ", callTitle(tool, args).rest, columns, colours);
  const { command, path, content, oldText, newText, ...rest } = { ...args } as Record<
    string,
    unknown
  >;
  const lines: string[] = [];
  const add = (mark: string, value: unknown): void => {
    if (typeof value === "string") lines.push(...marked(mark, value, columns, colours));
    else if (value !== undefined)
      lines.push(...marked(" ", callTitle(tool, [value]).rest, columns, colours));
  };
  add("$", command);
  // The diff names the path.
  if (details === undefined) {
    add(" ", path);
    add("+", content);
    add("-", oldText);
    add("+", newText);
  }
  if (Object.keys(rest).length > 0) lines.push(...marked(" ", whole(rest), columns, colours));
  return lines;
}

function whole(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    return "(arguments that cannot be shown)"; // a cycle or a bigint
  }
}

function marked(mark: string, text: string, columns: number, colours: Colours): string[] {
  return escapeLines(text)
    .split("\n")
    .flatMap((line) => wrapCode(line, columns, colours, `  ${mark} `));
}
