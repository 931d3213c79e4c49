/** Opens the screen of a conversation. */
import type { Screen, ScreenOptions } from "./live.ts";
import { PlainScreen } from "./plain-screen.ts";
import { TerminalScreen } from "./terminal-screen.ts";

export type { FullView, Live, Screen, ScreenOptions } from "./live.ts";

/**
 * Opens a screen on the terminal and takes over its keyboard, until `close`. Nothing that was on
 * the terminal is erased. `isPlain` is the user's setting for screen readers; a dumb terminal and
 * an output that is no terminal are always plain.
 */
export function openScreen(options: ScreenOptions, isPlain = false): Screen {
  const canMove = options.output.isTTY === true && options.env.TERM !== "dumb";
  return isPlain || !canMove ? new PlainScreen(options) : new TerminalScreen(options);
}
