/** Wraps text that carries styles (SGR) and links (OSC 8). Each row closes what it opened. */
import { openStyles, RESET } from "../open-styles.ts";
import { pieces, textWidth } from "../width.ts";
import { RowFlow } from "./row-flow.ts";
import { noPrefixes, rowText, type Prefix } from "./row.ts";
import { unpainted, type Paint, type Span } from "./span.ts";

export interface WrapOptions {
  /** Spaces before each row. */
  readonly indent?: number;
  /** Before the first row; the others are indented by its width. May be styled. */
  readonly mark?: string;
  /** Keeps all spaces between two words of a row. Default: one separates them. */
  readonly keepsSpaces?: boolean;
}

/** Breaks at words; longer words at the last cell. Spaces before the first are left out. Returns at least one row. */
export function wrapStyled(text: string, columns: number, options: WrapOptions = {}): string[] {
  const { indent = 0, mark = "", keepsSpaces } = options;
  const room = Math.max(0, columns - 2);
  const spaces = Math.min(indent, room);
  const markWidth = textWidth(mark);
  const hanging: Prefix = blank(Math.min(spaces + markWidth, room));
  const isRoomForMark = spaces + markWidth <= room;
  const first = isRoomForMark
    ? { text: " ".repeat(spaces) + mark, width: spaces + markWidth }
    : hanging;
  const flow = new RowFlow(
    columns,
    mark === "" && indent === 0 ? noPrefixes : { first, rest: hanging },
    keepsSpaces,
  );
  if (!isRoomForMark) for (const span of toSpans(`${mark} `)) flow.add(span);
  for (const span of toSpans(text)) flow.add(span);
  const rows = flow.end().map(rowText);
  return rows.length > 0 ? rows : [first.text.trimEnd()];
}

/** Splits styled text into spans. Escapes other than SGR and OSC 8 are left out. */
function toSpans(styled: string): Span[] {
  const spans: Span[] = [];
  let [text, open, paint]: [string, string, Paint] = ["", "", unpainted];
  const flush = (): void => {
    if (text !== "") spans.push({ text, paint });
    text = "";
  };
  for (const piece of pieces(styled)) {
    if (!piece.isEscape) text += piece.text;
    else {
      const next = openStyles(open + piece.text);
      if (next === open) continue;
      flush();
      [open, paint] = [next, painted(next)];
    }
  }
  flush();
  return spans;
}

function painted(open: string): Paint {
  if (open === "") return unpainted;
  const close = open.includes("\u001b]8;") ? RESET : "\u001b[0m";
  return (text) => open + text + close;
}

function blank(width: number): Prefix {
  return { text: " ".repeat(width), width };
}
