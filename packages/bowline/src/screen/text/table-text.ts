/** Reads the lines of Markdown tables. */

export type Align = "left" | "right" | "centre";

const DELIMITER = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;

/** Returns the cells of a row, with `\|` as a bar. */
export function cellsOf(line: string): string[] {
  const bare = line
    .trim()
    .replace(/^\|/, "")
    .replace(/(?<!\\)\|$/, "");
  return bare.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
}

/**
 * Returns the alignments if `line` is the delimiter row of a table with the given header. Both need
 * a bar, since a line of dashes below text is a heading.
 */
export function alignmentsOf(line: string, header: string): Align[] | undefined {
  if (!line.includes("|") || !header.includes("|") || !DELIMITER.test(line)) return undefined;
  const cells = cellsOf(line);
  if (cells.length !== cellsOf(header).length) return undefined;
  return cells.map((cell) => {
    if (!cell.endsWith(":")) return "left";
    return cell.startsWith(":") ? "centre" : "right";
  });
}
