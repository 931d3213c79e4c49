/** The keys of the editor. */
import type { Input } from "../input.ts";

type Key = Extract<Input, { type: "key" }>;

/** Commands that change the text or move in it, whatever else is shown. */
const TEXT_COMMANDS = [
  "left",
  "right",
  "wordLeft",
  "wordRight",
  "lineStart",
  "lineEnd",
  "textStart",
  "textEnd",
  "deleteBefore",
  "deleteAfter",
  "killWordBefore",
  "killBlankBefore",
  "killWordAfter",
  "killToStart",
  "killToEnd",
  "yank",
  "yankOlder",
  "undo",
  "newline",
] as const;

export type TextCommand = (typeof TEXT_COMMANDS)[number];

export type EditorCommand = TextCommand | ConversationCommand;

/** Commands that concern more than the text. */
type ConversationCommand =
  | "enter"
  | "queue"
  | "up"
  | "down"
  | "pageUp"
  | "pageDown"
  | "search"
  | "view"
  | "clipboard"
  | "complete"
  | "close";

const plain: Readonly<Record<string, EditorCommand>> = {
  enter: "enter",
  tab: "complete",
  escape: "close",
  up: "up",
  down: "down",
  left: "left",
  right: "right",
  home: "lineStart",
  end: "lineEnd",
  pageUp: "pageUp",
  pageDown: "pageDown",
  backspace: "deleteBefore",
  delete: "deleteAfter",
};

const withCtrl: Readonly<Record<string, EditorCommand>> = {
  a: "lineStart",
  b: "left",
  d: "deleteAfter",
  e: "lineEnd",
  f: "right",
  h: "deleteBefore",
  j: "newline",
  k: "killToEnd",
  n: "down",
  o: "view",
  p: "up",
  r: "search",
  u: "killToStart",
  v: "clipboard",
  w: "killBlankBefore",
  y: "yank",
  // Terminals report Ctrl-_ under several names: all are the same byte.
  _: "undo",
  "-": "undo",
  "/": "undo",
  "7": "undo",
  left: "wordLeft",
  right: "wordRight",
  home: "textStart",
  end: "textEnd",
  backspace: "killWordBefore",
  delete: "killWordAfter",
  enter: "newline",
};

const withAlt: Readonly<Record<string, EditorCommand>> = {
  enter: "queue",
  b: "wordLeft",
  f: "wordRight",
  d: "killWordAfter",
  y: "yankOlder",
  left: "wordLeft",
  right: "wordRight",
  backspace: "killWordBefore",
  delete: "killWordAfter",
  "<": "textStart",
  ">": "textEnd",
};

/** Returns the command of a key, or undefined for a key that is not the editor's. */
export function commandOf({ name, ctrl, alt, shift }: Key): EditorCommand | undefined {
  if (ctrl && alt) return undefined;
  if (name === "enter" && shift && !alt) return "newline";
  if (name === "tab" && shift) return undefined;
  const table = ctrl ? withCtrl : alt ? withAlt : plain;
  const key = name.length === 1 ? name.toLowerCase() : name;
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

export function isTextCommand(command: EditorCommand): command is TextCommand {
  return (TEXT_COMMANDS as readonly string[]).includes(command);
}
