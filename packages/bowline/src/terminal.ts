/**
 * Text for a person's terminal: nothing a model says can move the cursor, set a title or pass for
 * the program's own words.
 */

export interface Output {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/** Control characters shown as pictures, line feeds and tabs kept. */
export function printable(text: string): string {
  return text
    .replace(/\r\n/g, "\n")
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, (char) => {
      const code = char.charCodeAt(0);
      return code < 0x20 ? String.fromCharCode(0x2400 + code) : "\u2421";
    });
}

/**
 * JSON as it may stand on a terminal: what could steer one and JSON leaves as it is becomes an
 * escape, which means the same.
 */
export function printableJson(value: unknown, indent?: number): string {
  return escapeJson(JSON.stringify(value, undefined, indent));
}

/** The same of what is JSON already. */
export function escapeJson(json: string): string {
  return json.replace(
    /[\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** On one line, cut to `width` characters. */
export function oneLine(text: string, width: number): string {
  const flat = printable(text).replace(/\s+/g, " ").trim();
  return flat.length <= width ? flat : `${flat.slice(0, Math.max(1, width - 1))}…`;
}

/** A text as a shell takes it for one word. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

export interface Style {
  readonly dim: (text: string) => string;
  readonly bold: (text: string) => string;
  readonly red: (text: string) => string;
  readonly green: (text: string) => string;
}

/** Colours only on a terminal, and not where NO_COLOR asks for none. */
export function styleFor(output: Output, env: Readonly<Record<string, string | undefined>>): Style {
  const on = output.isTTY === true && (env.NO_COLOR ?? "") === "" && env.TERM !== "dumb";
  const paint = (open: number, close: number) => (text: string) =>
    on && text !== "" ? `\u001b[${open}m${text}\u001b[${close}m` : text;
  return { dim: paint(2, 22), bold: paint(1, 22), red: paint(31, 39), green: paint(32, 39) };
}
