/** Wraps one line of code or output at the last cell. Spaces stay as they are. */
import type { Colours } from "../colours.ts";
import { textWidth } from "../width.ts";
import { CellFlow } from "./cell-flow.ts";
import { rowText } from "./row.ts";
import { unpainted } from "./span.ts";

/** `mark` stands before the first row; an arrow marks the others. */
export function wrapCode(line: string, columns: number, colours: Colours, mark = ""): string[] {
  const width = textWidth(mark);
  const prefixes = { first: { text: mark, width }, rest: { text: " ".repeat(width), width } };
  const flow = new CellFlow(Math.max(columns, width + 4), colours, prefixes, "arrow");
  flow.add({ text: line, paint: unpainted });
  return flow.end().map(rowText);
}
