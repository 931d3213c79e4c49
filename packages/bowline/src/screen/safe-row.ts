/** The last check before a terminal: only colours and links pass, nothing moves the cursor. */
import { openStyles, RESET } from "./open-styles.ts";
import { cutToWidth } from "./width.ts";

const CONTROL = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f]/;
const ALLOWED =
  /(\u001b\[[\d;:]*m|\u001b\]8;[^;\u0000-\u001f\u007f-\u009f]*;[\x21-\x7e]*(?:\u0007|\u001b\\))|[\u0000-\u0008\u000a-\u001f\u007f-\u009f]/g;

/** Returns one line with its styles closed. Control characters become visible symbols. */
export function safeRow(line: string): string {
  if (!CONTROL.test(line)) return line;
  const safe = line.replace(ALLOWED, (char, style: string | undefined) => {
    if (style !== undefined) return style;
    const code = char.charCodeAt(0);
    return code < 0x20 ? String.fromCharCode(0x2400 + code) : "\u2421";
  });
  return openStyles(safe) === "" ? safe : safe + RESET;
}

/** Returns a line that fits into one row. Spaces at the end would survive a narrower window. */
export function liveRow(line: string, columns: number): string {
  return cutToWidth(safeRow(line.replaceAll(/[\t\n]/g, " ")), columns).replace(/ +$/, "");
}
