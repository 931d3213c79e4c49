/** Draws a terminal screen, as `tmux capture-pane -e` prints it, as an SVG picture. */
import { eastAsianWidth } from "get-east-asian-width";

const CELL = { width: 8.4, height: 18 };
const MARGIN = 14;
const FONT =
  "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', 'Liberation Mono', monospace";
const paper = "#16181d";
const ink = "#d7dae0";
/** The sixteen colours of the terminal, in the order of their codes. */
const palette =
  "3b4048 e06c75 98c379 e5c07b 61afef c678dd 56b6c2 c8ccd4 6b7280 ef8a92 b3d99b f0d399 85c4ff d79be8 7fd0da ffffff"
    .split(" ")
    .map((colour) => `#${colour}`);

interface Style {
  readonly ink?: string | undefined;
  readonly paper?: string | undefined;
  readonly flags: ReadonlySet<string>;
}

/** Text of one style, with its column and its width in cells. */
interface Run {
  readonly text: string;
  readonly column: number;
  readonly cells: number;
  readonly style: Style;
}

const plain: Style = { flags: new Set() };
const flagOn: Readonly<Record<number, string>> = {
  1: "bold",
  2: "dim",
  3: "italic",
  4: "underline",
  7: "inverse",
  9: "strike",
};
const flagsOff: Readonly<Record<number, readonly string[]>> = {
  22: ["bold", "dim"],
  23: ["italic"],
  24: ["underline"],
  27: ["inverse"],
  29: ["strike"],
};

/** Returns the picture. `label` describes it for readers who do not see it. */
export function terminalSvg(
  styled: string,
  {
    columns,
    label,
    cursor,
  }: {
    readonly columns: number;
    readonly label: string;
    readonly cursor?: { readonly row: number; readonly column: number };
  },
): string {
  const rows = styled.replace(/\n+$/, "").split("\n");
  const width = Math.ceil(columns * CELL.width + 2 * MARGIN);
  const height = Math.ceil(rows.length * CELL.height + 2 * MARGIN);
  let style = plain;
  const drawn = rows.map((row, index) => {
    const { runs, style: after } = readRow(row, style);
    style = after;
    return runs.map((run) => drawRun(run, index)).join("");
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(label)}">`,
    `<rect width="${width}" height="${height}" rx="8" fill="${paper}"/>`,
    cursor === undefined ? "" : drawCursor(cursor),
    `<g font-family="${FONT}" font-size="14" fill="${ink}">`,
    ...drawn.filter((row) => row !== ""),
    `</g>`,
    `</svg>`,
    "",
  ].join("\n");
}

/** Splits a row into runs of one style, each with its column and width in cells. */
function readRow(row: string, first: Style): { runs: Run[]; style: Style } {
  const runs: Run[] = [];
  let style = first;
  let column = 0;
  for (const [piece, codes] of row.matchAll(
    /\u001b\[([0-9;:]*)m|\u001b\][^\u001b\u0007]*(?:\u0007|\u001b\\)|\u001b.|[^\u001b]+/gu,
  )) {
    if (codes !== undefined) style = changed(style, codes);
    else if (!piece.startsWith("\u001b")) {
      const cells = cellsOf(piece);
      runs.push({ text: piece, column, cells, style });
      column += cells;
    }
  }
  return { runs, style };
}

function changed(before: Style, codes: string): Style {
  let { ink: front, paper: back } = before;
  const flags = new Set(before.flags);
  const numbers = codes.split(/[;:]/).map(Number);
  for (let index = 0; index < numbers.length; index += 1) {
    const code = numbers[index] ?? 0;
    const flag = flagOn[code];
    if (code === 0) {
      front = back = undefined;
      flags.clear();
    } else if (flag !== undefined) flags.add(flag);
    else if (code === 39) front = undefined;
    else if (code === 49) back = undefined;
    else if (code === 38 || code === 48) {
      const { colour, used } = extended(numbers.slice(index + 1));
      if (code === 38) front = colour;
      else back = colour;
      index += used;
    } else if (code >= 30 && code <= 37) front = palette[code - 30];
    else if (code >= 90 && code <= 97) front = palette[code - 82];
    else if (code >= 40 && code <= 47) back = palette[code - 40];
    else if (code >= 100 && code <= 107) back = palette[code - 92];
    for (const off of flagsOff[code] ?? []) flags.delete(off);
  }
  return { ink: front, paper: back, flags };
}

function extended([kind, ...values]: readonly number[]): {
  colour: string | undefined;
  used: number;
} {
  if (kind === 2) return { colour: `rgb(${values.slice(0, 3).join(",")})`, used: 4 };
  const [index = 0] = values;
  if (index < 16) return { colour: palette[index], used: 2 };
  const grey = 8 + 10 * (index - 232);
  if (index >= 232) return { colour: `rgb(${grey},${grey},${grey})`, used: 2 };
  const part = (step: number): number =>
    [0, 95, 135, 175, 215, 255][Math.floor((index - 16) / step) % 6] ?? 0;
  return { colour: `rgb(${part(36)},${part(6)},${part(1)})`, used: 2 };
}

function drawRun({ text, column, cells, style }: Run, row: number): string {
  const isInverse = style.flags.has("inverse");
  const front = isInverse ? (style.paper ?? paper) : style.ink;
  const back = isInverse ? (style.ink ?? ink) : style.paper;
  const x = number(MARGIN + column * CELL.width);
  const top = MARGIN + row * CELL.height;
  const width = number(cells * CELL.width);
  const box =
    back === undefined
      ? ""
      : `<rect x="${x}" y="${top}" width="${width}" height="${CELL.height}" fill="${back}"/>`;
  const lines = ["underline", "strike"].filter((flag) => style.flags.has(flag));
  const look = [
    front === undefined ? "" : ` fill="${front}"`,
    style.flags.has("bold") ? ` font-weight="bold"` : "",
    style.flags.has("italic") ? ` font-style="italic"` : "",
    style.flags.has("dim") ? ` opacity="0.6"` : "",
    lines.length > 0
      ? ` text-decoration="${lines.join(" ").replace("strike", "line-through")}"`
      : "",
  ].join("");
  // SVG collapses spaces, so texts with more than one between them are placed apart.
  const words = [...text.matchAll(/\S+(?: \S+)*/gu)].map(({ 0: word, index }) => ({
    word,
    from: column + cellsOf(text.slice(0, index)),
    cells: cellsOf(word),
  }));
  const drawn = words.map(
    ({ word, from, cells: wide }) =>
      `<text x="${number(MARGIN + from * CELL.width)}" y="${number(top + 13.5)}" textLength="${number(wide * CELL.width)}" lengthAdjust="spacingAndGlyphs"${look}>${escaped(word)}</text>`,
  );
  return box + drawn.join("");
}

function drawCursor({ row, column }: { row: number; column: number }): string {
  const x = number(MARGIN + column * CELL.width);
  return `<rect x="${x}" y="${MARGIN + row * CELL.height}" width="${CELL.width}" height="${CELL.height}" fill="#8b93a3"/>`;
}

function cellsOf(text: string): number {
  let cells = 0;
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    const code = segment.codePointAt(0) ?? 0;
    cells += /\p{Emoji_Presentation}|\ufe0f/u.test(segment) ? 2 : eastAsianWidth(code);
  }
  return cells;
}

function number(value: number): string {
  return String(Math.round(value * 100) / 100);
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (one) => `&#${one.charCodeAt(0)};`);
}
