/** The modes that a screen turns on, and off again. None of them takes the mouse. */

type Environment = Readonly<Record<string, string | undefined>>;

export interface Modes {
  readonly enter: string;
  readonly leave: string;
}

export const BEGIN_FRAME = "\u001b[?2026h\u001b[?25l";
export const SHOW_CURSOR = "\u001b[?25h";
export const END_FRAME = "\u001b[?2026l";
export const ENTER_FULL = "\u001b[?1049h";
export const LEAVE_FULL = "\u001b[?1049l";
/** Ends a frame that was cut off, shows the cursor, wraps lines and closes colours. */
export const RESTORE = "\u001b[?2026l\u001b[?7h\u001b[0m\u001b[?25h";

/**
 * Returns the modes for a terminal: pastes in brackets everywhere; keys such as Shift-Enter only
 * where the request is known to do no harm. Other terminals may print it or underline their text.
 */
export function modesFor(env: Environment): Modes {
  const pastes = { enter: "\u001b[?2004h", leave: "\u001b[?2004l" };
  const keys = keyModes(env);
  return { enter: pastes.enter + keys.enter, leave: keys.leave + pastes.leave };
}

function keyModes(env: Environment): Modes {
  // tmux answers in the form of modifyOtherKeys, if its `extended-keys` is on.
  if (env.TMUX !== undefined) return { enter: "\u001b[>4;1m", leave: "\u001b[>4;0m" };
  if (env.STY !== undefined) return { enter: "", leave: "" };
  const knowsKitty =
    /^(?:xterm-kitty|xterm-ghostty|foot|alacritty|wezterm)/.test(env.TERM ?? "") ||
    /^(?:iTerm\.app|WezTerm|ghostty)$/.test(env.TERM_PROGRAM ?? "");
  return knowsKitty ? { enter: "\u001b[>1u", leave: "\u001b[<u" } : { enter: "", leave: "" };
}
