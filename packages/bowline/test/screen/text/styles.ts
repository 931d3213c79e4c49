import { colours, type Colours } from "../../../src/screen/colours.ts";

const output = { isTTY: true, write: (): void => {} };

/** Colours and links are on. */
export const styled: Colours = colours(output, { TERM: "xterm-kitty" });
export const plain: Colours = colours(output, { NO_COLOR: "1" });

/** Returns the text without styles and links. */
export function bare(row: string): string {
  return row.replaceAll(/\u001b\[[\d;]*m|\u001b\]8;[^\u001b]*\u001b\\/g, "");
}

/** Returns the styles and links that a row leaves open. */
export function leftOpen(row: string): string[] {
  const open = new Set<string>();
  const closing: Readonly<Record<string, string>> = {
    22: "1 2",
    23: "3",
    24: "4",
    27: "7",
    29: "9",
    39: "31 32 33 34 35 36",
  };
  for (const [, sgr, link] of row.matchAll(
    /\u001b\[([\d;]*)m|\u001b\]8;[^;]*;([^\u001b]*)\u001b\\/g,
  )) {
    if (link === "") open.delete("link");
    else if (link !== undefined) open.add("link");
    else if (/^[0;]*$/.test(sgr ?? "")) {
      for (const name of open) if (name !== "link") open.delete(name);
    } else if (closing[sgr ?? ""] === undefined) open.add(sgr ?? "");
    else for (const name of (closing[sgr ?? ""] ?? "").split(" ")) open.delete(name);
  }
  return [...open];
}
