/** Text that somebody is asked about, with nothing hidden in it: lines stay lines, what cannot be seen is written out. */
import { escapeText } from "../../tools/escape.ts";

export function visible(text: string): string {
  return text.replaceAll(/[^\n\t]+/g, escapeText);
}
