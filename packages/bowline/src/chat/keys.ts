/** The keys of a conversation beside those of the editor: what they do, and which they are. */
import type { Input } from "../screen/input.ts";

export type KeyAction =
  | "interrupt"
  | "clear_or_leave"
  | "leave"
  | "suspend"
  | "plan"
  | "edit_previous"
  | "edit_next"
  | "remove"
  | "unfold";

export interface KeyBinding {
  readonly action: KeyAction;
  /** As the help and the documentation name it. */
  readonly label: string;
  readonly help: string;
  readonly matches: (input: Input) => boolean;
}

export const keyBindings: readonly KeyBinding[] = [
  {
    action: "interrupt",
    label: "Esc",
    help: "interrupt the run at once; with a menu open, close only the menu",
    matches: (input) => isKey(input, "escape", {}),
  },
  {
    action: "clear_or_leave",
    label: "Ctrl-C",
    help: "interrupt the run; else put the draft into the history; else, pressed twice, leave",
    matches: (input) => isKey(input, "c", { ctrl: true }),
  },
  {
    action: "leave",
    label: "Ctrl-D",
    help: "leave, if the draft is empty and nothing runs",
    matches: (input) => isKey(input, "d", { ctrl: true }),
  },
  {
    action: "suspend",
    label: "Ctrl-Z",
    help: "stop the program; `fg` brings it back",
    matches: (input) => isKey(input, "z", { ctrl: true }),
  },
  {
    action: "plan",
    label: "Shift-Tab",
    help: "plan mode on or off",
    matches: (input) => isKey(input, "tab", { shift: true }),
  },
  {
    action: "edit_previous",
    label: "Alt-Up",
    help: "edit the last waiting message, then the one above it; the draft waits meanwhile",
    matches: (input) => isKey(input, "up", { alt: true }),
  },
  {
    action: "edit_next",
    label: "Alt-Down",
    help: "put the message that is edited back, and edit the one below; then back to the draft",
    matches: (input) => isKey(input, "down", { alt: true }),
  },
  {
    action: "remove",
    label: "Ctrl-X",
    help: "remove the waiting message that is edited",
    matches: (input) => isKey(input, "x", { ctrl: true }),
  },
  {
    action: "unfold",
    label: "Ctrl-O",
    help: "read the whole output of the last tool call",
    matches: (input) => isKey(input, "o", { ctrl: true }),
  },
];

/** Keys that the draft understands while a run works, for the help. */
export const sendKeys: readonly { readonly label: string; readonly help: string }[] = [
  { label: "Enter", help: "send; during a run the message goes in after this step" },
  {
    label: "Alt-Enter",
    help: "during a run: send the message after the turn; change the moment of an edited one",
  },
];

export function actionOf(input: Input): KeyAction | undefined {
  return keyBindings.find(({ matches }) => matches(input))?.action;
}

interface Modifiers {
  readonly ctrl?: boolean;
  readonly alt?: boolean;
  readonly shift?: boolean;
}

function isKey(input: Input, name: string, modifiers: Modifiers): boolean {
  const { ctrl = false, alt = false, shift = false } = modifiers;
  return (
    input.type === "key" &&
    input.name === name &&
    input.ctrl === ctrl &&
    input.alt === alt &&
    input.shift === shift
  );
}
