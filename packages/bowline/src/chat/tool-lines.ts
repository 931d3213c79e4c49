/** Draws tool calls: a title, live output while they run, and what is worth knowing after. */
import type { Colours } from "../screen/colours.ts";
import { wrapStyled } from "../screen/text/wrap.ts";
import { cutToWidth } from "../screen/width.ts";
import { describeCall } from "../tools/index.ts";
import { oneLine, printable } from "../terminal.ts";
import type { ToolBlock } from "./block.ts";
import type { LiveCall } from "./state.ts";
import { bytesText, durationText, plural } from "./text.ts";

/** Lines of output that are shown while a call runs. */
const LIVE_ROWS = 5;
/** Lines of a failed call's result that stay visible. */
const ERROR_ROWS = 5;
const MAX_TITLE = 300;

export function callTitle(name: string, args: unknown): string {
  return oneLine(describeCall(name, args), MAX_TITLE);
}

export function liveCallLines(
  { name, args, startedAt, tail, bytes, within }: LiveCall,
  columns: number,
  now: number,
  { bold, dim }: Colours,
): string[] {
  const by = within === undefined ? "" : `${oneLine(within, 60)}: `;
  const rows = printable(tail)
    .split("\n")
    .filter((line) => line.trim() !== "");
  const shown = rows.slice(-LIVE_ROWS);
  const size = bytes === 0 ? "" : ` · ${bytesText(bytes)}`;
  return [
    bold(cutToWidth(`* ${by}${callTitle(name, args)}`, columns)),
    ...shown.map((row) => dim(cutToWidth(`  | ${row}`, columns))),
    dim(`  running · ${durationText(now - startedAt)}${size}`),
  ];
}

export function toolLines(block: ToolBlock, columns: number, colours: Colours): string[] {
  const { name, args, within, text, isError, outcome } = block;
  const { bold, dim, red, green } = colours;
  const by = within === undefined ? "" : `${oneLine(within, 60)}: `;
  const isBad = isError || outcome !== "finished";
  const end = isBad ? red(endText(block)) : green(endText(block));
  const lines = text === "" ? [] : printable(text).replace(/\n$/, "").split("\n");
  const shown = isBad ? lines.slice(-ERROR_ROWS) : [];
  const hidden = lines.length - shown.length;
  const more = [
    ...(hidden > 0 ? [`${plural(hidden, "line")} hidden`] : []),
    ...(pathOf(block.details) === undefined ? [] : [`all of it in ${oneLine(pathOf(block.details) ?? "", 300)}`]),
  ];
  return [
    ...wrapStyled(bold(`* ${by}${callTitle(name, args)}`), columns),
    ...diffRows(block, columns, colours),
    ...shown.flatMap((line) => wrapStyled(dim(line), columns, { mark: "  | " })),
    ...wrapStyled(`  ${end}${more.length === 0 ? "" : dim(` · ${more.join(" · ")}`)}`, columns),
  ];
}

/** Says truly what became of a call. */
function endText({ outcome, isError, ms, details }: ToolBlock): string {
  const time = durationText(ms);
  switch (outcome) {
    case "finished":
      return isError ? `failed · ${time}${exitOf(details)}` : `ok · ${time}`;
    case "failed":
      return `failed · ${time}${exitOf(details)}`;
    case "stopped":
      return `killed after ${time}`;
    case "left_running":
      return `still running after ${time}; it ignored the interrupt`;
    case "not_started":
      return "not started";
    case "unknown":
      return "outcome unknown: the process ended while it ran";
  }
}

interface Details {
  readonly exitCode?: unknown;
  readonly signal?: unknown;
  readonly fullOutputPath?: unknown;
  readonly diff?: unknown;
}

function detailsOf(details: unknown): Details {
  return typeof details === "object" && details !== null ? details : {};
}

function exitOf(details: unknown): string {
  const { exitCode, signal } = detailsOf(details);
  if (typeof signal === "string") return ` · ${oneLine(signal, 20)}`;
  return typeof exitCode === "number" ? ` · exit code ${exitCode}` : "";
}

function pathOf(details: unknown): string | undefined {
  const { fullOutputPath } = detailsOf(details);
  return typeof fullOutputPath === "string" ? fullOutputPath : undefined;
}

/** The change that an edit made, as the tool reports it. */
function diffRows({ details }: ToolBlock, columns: number, { red, green, dim }: Colours): string[] {
  const { diff } = detailsOf(details);
  if (typeof diff !== "string") return [];
  const lines = printable(diff).replace(/\n$/, "").split("\n").slice(2);
  return lines.flatMap((line) => {
    const paint = line.startsWith("+") ? green : line.startsWith("-") ? red : dim;
    return wrapStyled(paint(line), columns, { indent: 2 });
  });
}
