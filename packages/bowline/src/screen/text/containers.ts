/** The quotes and list items around the current block, and the text that they put before rows. */
import type { Paint } from "./span.ts";
import type { Prefix, RowPrefixes } from "./row.ts";
import { indentOf, isBlank, expandIndent } from "./block-start.ts";

export type Container =
  | { readonly type: "quote"; readonly isShown: boolean }
  | {
      readonly type: "item";
      readonly kind: string;
      readonly number: number | undefined;
      readonly indent: number;
      /** The marker was put before a row. */
      readonly isShown: boolean;
    };

/** Returns how many containers a line continues, and the text after their marks. */
export function matchContainers(
  all: readonly Container[],
  line: string,
): { readonly depth: number; readonly rest: string } {
  let rest = line;
  let depth = 0;
  for (const container of all) {
    if (container.type === "quote") {
      const mark = /^ {0,3}> ?/.exec(rest);
      if (mark === null) break;
      rest = expandIndent(rest.slice(mark[0].length));
    } else if (!isBlank(rest)) {
      if (indentOf(rest) < container.indent) break;
      rest = rest.slice(container.indent);
    }
    depth++;
  }
  return { depth, rest };
}

function markerOf(container: Container): string {
  if (container.type === "quote") return "> ";
  return container.number === undefined ? "- " : `${container.number}${container.kind} `;
}

/** Returns the prefixes of a block. Markers that were not shown yet are before its first row. */
export function prefixesOf(all: readonly Container[], columns: number, paint: Paint): RowPrefixes {
  const isMarker = (container: Container): boolean =>
    container.type === "quote" || !container.isShown;
  return {
    first: toPrefix(
      all.map((one) => ({ text: markerOf(one), isMarker: isMarker(one) })),
      columns,
      paint,
    ),
    rest: toPrefix(
      all.map((one) => ({ text: markerOf(one), isMarker: one.type === "quote" })),
      columns,
      paint,
    ),
  };
}

interface Part {
  readonly text: string;
  readonly isMarker: boolean;
}

/** Leaves half of the row to the text: of deep nesting the outer levels are left out. */
function toPrefix(all: readonly Part[], columns: number, paint: Paint): Prefix {
  const widthOf = (parts: readonly Part[]): number =>
    parts.reduce((sum, { text }) => sum + text.length, 0);
  const most = Math.max(columns - 8, Math.floor(columns / 2));
  const parts = [...all];
  while (parts.length > 1 && widthOf(parts) > columns / 2) {
    const blank = parts.findIndex(({ isMarker }) => !isMarker);
    parts.splice(Math.max(0, blank), 1);
  }
  let text = "";
  for (const part of parts) text += part.isMarker ? part.text : " ".repeat(part.text.length);
  const cut = text.slice(0, Math.max(0, most));
  const painted = cut.replaceAll(/\S+/g, (mark) => paint(mark));
  return { text: painted, width: cut.length };
}
