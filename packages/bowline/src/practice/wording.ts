/** English for lists and numbers. */
export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** Formats a list as "a, b and c", with "this folder" for the working directory. */
export function enumerate(items: readonly string[], most = 12): string {
  const named = items.map((item) => (item === "." ? "this folder" : item));
  const shown =
    named.length > most ? [...named.slice(0, most), `${named.length - most} more`] : named;
  return shown.length < 2 ? shown.join("") : `${shown.slice(0, -1).join(", ")} and ${shown.at(-1)}`;
}

export function bullets(items: readonly string[]): string {
  const rest = items.length > 50 ? [`and ${items.length - 50} more`] : [];
  return [...items.slice(0, 50), ...rest].map((item) => `- ${item}`).join("\n");
}

/** Formats a code block with a fence longer than any inside it. */
export function fence(text: string): string {
  const inside = [...text.matchAll(/`{3,}/g)].map(([ticks]) => ticks.length);
  const ticks = "`".repeat(Math.max(2, ...inside) + 1);
  return `${ticks}\n${text.replace(/\n$/, "")}\n${ticks}`;
}

const COLUMNS = 80;

/** Returns a refusal of two lines that fit any terminal: the reason, and what to say instead. */
export function refuse(why: string, instead: string): string {
  return [why, instead].map((line) => shorten(line, COLUMNS)).join("\n");
}

/** Returns the text on one line, cut to `most` characters. */
export function shorten(text: string, most: number): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length > most ? `${line.slice(0, most - 2).trimEnd()} …` : line;
}
