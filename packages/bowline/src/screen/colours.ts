/** The terminal's own 16 colours, so that every theme of the user stays readable. */
import type { Output } from "../terminal.ts";

type Environment = Readonly<Record<string, string | undefined>>;
type Paint = (text: string) => string;

export interface Colours {
  /** False if the functions return their text unchanged. */
  readonly isOn: boolean;
  readonly dim: Paint;
  readonly bold: Paint;
  readonly italic: Paint;
  readonly underline: Paint;
  readonly inverse: Paint;
  readonly strike: Paint;
  readonly red: Paint;
  readonly green: Paint;
  readonly yellow: Paint;
  readonly blue: Paint;
  readonly magenta: Paint;
  readonly cyan: Paint;
  /** Returns a hyperlink where the terminal is known to support them, else `text (url)`. */
  readonly link: (text: string, url: string) => string;
}

/**
 * Returns colours on a terminal, unless NO_COLOR is set, TERM is dumb or the user's setting
 * `isWanted` is false.
 */
export function colours(output: Output, env: Environment, isWanted = true): Colours {
  const isOn =
    isWanted && output.isTTY === true && (env.NO_COLOR ?? "") === "" && env.TERM !== "dumb";
  const paint = (open: number, close: number): Paint =>
    isOn ? (text) => painted(text, `\u001b[${open}m`, `\u001b[${close}m`) : (text) => text;
  const hasLinks = isOn && linkStyle(env) === "osc8";
  return {
    isOn,
    bold: paint(1, 22),
    dim: paint(2, 22),
    italic: paint(3, 23),
    underline: paint(4, 24),
    inverse: paint(7, 27),
    strike: paint(9, 29),
    red: paint(31, 39),
    green: paint(32, 39),
    yellow: paint(33, 39),
    blue: paint(34, 39),
    magenta: paint(35, 39),
    cyan: paint(36, 39),
    link: (text, url) => (hasLinks ? hyperlink(text, url) : linkText(text, url)),
  };
}

/** Tells how links are written: terminals that do not know OSC 8 may print its address. */
export function linkStyle(env: Environment): "osc8" | "text" {
  if (env.TMUX !== undefined || env.STY !== undefined) return "text";
  const isKnown =
    /^(?:iTerm\.app|WezTerm|vscode|ghostty|Hyper|Tabby)$/.test(env.TERM_PROGRAM ?? "") ||
    /kitty|alacritty|foot|ghostty|wezterm|contour/.test(env.TERM ?? "") ||
    Number(env.VTE_VERSION ?? 0) >= 5000 ||
    env.WT_SESSION !== undefined ||
    env.KONSOLE_VERSION !== undefined;
  return isKnown ? "osc8" : "text";
}

/** Opens the style again after each nested end of the same style. */
function painted(text: string, open: string, close: string): string {
  return text === "" ? "" : open + text.replaceAll(close, close + open) + close;
}

function linkText(text: string, url: string): string {
  return text === url || url === "" ? text : `${text} (${url})`;
}

/** The id joins the parts of a link that wraps. An address may not hold control characters. */
function hyperlink(text: string, url: string): string {
  const address = url.replace(/[^\x21-\x7e]/gu, (char) =>
    /\p{Surrogate}/u.test(char) ? "" : encodeURIComponent(char),
  );
  if (address === "") return text;
  return `\u001b]8;id=${idOf(address)};${address}\u001b\\${text}\u001b]8;;\u001b\\`;
}

function idOf(address: string): string {
  let hash = 0;
  for (let i = 0; i < address.length; i += 1) hash = (hash * 31 + address.charCodeAt(i)) | 0;
  return (hash >>> 0).toString(36);
}
