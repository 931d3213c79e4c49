/**
 * Prepares text for a terminal. A model's text cannot move the cursor, set a title or imitate the
 * program's own messages.
 */

export interface Output {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/**
 * Replaces control characters, bidirectional marks and line separators with visible symbols. Keeps
 * line feeds and tabs.
 */
export function printable(text: string): string {
  return text
    .replace(/\r\n/g, "\n")
    .replace(
      /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
      (char) => {
        const code = char.charCodeAt(0);
        return code < 0x20 ? String.fromCharCode(0x2400 + code) : "\u2421";
      },
    );
}

/**
 * Serialises a value to JSON that is safe on a terminal. Control characters that JSON leaves as
 * they are become escapes with the same meaning.
 */
export function printableJson(value: unknown, indent?: number): string {
  return escapeJson(JSON.stringify(value, undefined, indent));
}

/** Like {@link printableJson}, for text that is already JSON. */
export function escapeJson(json: string): string {
  return json.replace(
    /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Joins a text into one line and cuts it to `width` characters. */
export function oneLine(text: string, width: number): string {
  const flat = printable(text).replace(/\s+/g, " ").trim();
  return flat.length <= width ? flat : `${flat.slice(0, Math.max(1, width - 1))}…`;
}

/** Quotes a text as one word for a shell. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

export interface Style {
  readonly dim: (text: string) => string;
  readonly bold: (text: string) => string;
  readonly red: (text: string) => string;
  readonly green: (text: string) => string;
  readonly yellow: (text: string) => string;
}

/** Returns colours on a terminal, unless NO_COLOR is set or TERM is dumb. */
export function styleFor(output: Output, env: Readonly<Record<string, string | undefined>>): Style {
  const on = output.isTTY === true && (env.NO_COLOR ?? "") === "" && env.TERM !== "dumb";
  const paint = (open: number, close: number) => (text: string) =>
    on && text !== "" ? `\u001b[${open}m${text}\u001b[${close}m` : text;
  return {
    dim: paint(2, 22),
    bold: paint(1, 22),
    red: paint(31, 39),
    green: paint(32, 39),
    yellow: paint(33, 39),
  };
}
