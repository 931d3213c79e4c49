/** Opens the screen of a conversation. */
import type { Screen, ScreenOptions } from "./live.ts";
import { TerminalScreen } from "./terminal-screen.ts";

export type { FullView, Live, PlainView, Screen, ScreenOptions } from "./live.ts";

/**
 * Opens a screen on the terminal's main screen and takes over its keyboard, until `close`. Nothing
 * that was on the terminal is erased.
 */
export function openScreen(options: ScreenOptions): Screen {
  return new TerminalScreen(options);
}
