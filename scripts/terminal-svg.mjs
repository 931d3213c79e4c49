// Draws a terminal screen, as `tmux capture-pane -e` prints it, as an SVG picture.
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
const plain = { ink: undefined, paper: undefined, flags: new Set() };
const flagOn = { 1: "bold", 2: "dim", 3: "italic", 4: "underline", 7: "inverse", 9: "strike" };
const flagsOff = {
  22: ["bold", "dim"],
  23: ["italic"],
  24: ["underline"],
  27: ["inverse"],
  29: ["strike"],
};

/** Returns the picture. `label` describes it for readers who do not see it. */
export function terminalSvg(styled, { columns, label, cursor }) {
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
function readRow(row, first) {
  const runs = [];
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

function changed(before, codes) {
  let style = { ...before, flags: new Set(before.flags) };
  const numbers = codes.split(/[;:]/).map(Number);
  for (let index = 0; index < numbers.length; index += 1) {
    const code = numbers[index];
    if (code === 0) style = { ...plain, flags: new Set() };
    else if (code in flagOn) style.flags.add(flagOn[code]);
    else if (code in flagsOff) for (const flag of flagsOff[code]) style.flags.delete(flag);
    else if (code === 39) style.ink = undefined;
    else if (code === 49) style.paper = undefined;
    else if (code === 38 || code === 48) {
      const { colour, used } = extended(numbers.slice(index + 1));
      style[code === 38 ? "ink" : "paper"] = colour;
      index += used;
    } else if (code >= 30 && code <= 37) style.ink = palette[code - 30];
    else if (code >= 90 && code <= 97) style.ink = palette[code - 82];
    else if (code >= 40 && code <= 47) style.paper = palette[code - 40];
    else if (code >= 100 && code <= 107) style.paper = palette[code - 92];
  }
  return style;
}

function extended([kind, ...values]) {
  if (kind === 2) return { colour: `rgb(${values.slice(0, 3).join(",")})`, used: 4 };
  const [index = 0] = values;
  if (index < 16) return { colour: palette[index], used: 2 };
  const grey = 8 + 10 * (index - 232);
  if (index >= 232) return { colour: `rgb(${grey},${grey},${grey})`, used: 2 };
  const part = (step) => [0, 95, 135, 175, 215, 255][Math.floor((index - 16) / step) % 6];
  return { colour: `rgb(${part(36)},${part(6)},${part(1)})`, used: 2 };
}

function drawRun({ text, column, cells, style }, row) {
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

function drawCursor({ row, column }) {
  const x = number(MARGIN + column * CELL.width);
  return `<rect x="${x}" y="${MARGIN + row * CELL.height}" width="${CELL.width}" height="${CELL.height}" fill="#8b93a3"/>`;
}

function cellsOf(text) {
  let cells = 0;
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    const code = segment.codePointAt(0) ?? 0;
    cells += /\p{Emoji_Presentation}|\ufe0f/u.test(segment) ? 2 : eastAsianWidth(code);
  }
  return cells;
}

function number(value) {
  return String(Math.round(value * 100) / 100);
}

function escaped(text) {
  return text.replace(/[&<>"]/g, (one) => `&#${one.charCodeAt(0)};`);
}
