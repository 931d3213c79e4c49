/** Drives an editor by keys, and reads what it shows. */
import { Editor } from "../../../src/screen/editor/editor.ts";
import type { EditorOptions, EditorResult } from "../../../src/screen/editor/editor-options.ts";
import { History } from "../../../src/screen/editor/history.ts";
import { key, type Key } from "../../../src/screen/keys.ts";

export const PROJECT = "/home/someone/project";

export function newHistory(): History {
  let now = 0;
  return new History({ project: PROJECT, clock: { now: () => ++now } });
}

export function newEditor(options: Partial<EditorOptions> = {}): Editor {
  return new Editor({ history: newHistory(), ...options });
}

/** Reads "ctrl-a", "alt-enter", "ctrl-_" or "up". */
export function keyOf(words: string): Key {
  const [, modifiers = "", name = ""] = /^((?:(?:ctrl|alt|shift)-)*)(.+)$/.exec(words) ?? [];
  return key(name, {
    ctrl: modifiers.includes("ctrl"),
    alt: modifiers.includes("alt"),
    shift: modifiers.includes("shift"),
  });
}

/** Presses keys; returns the meaning of the last one. */
export function press(editor: Editor, ...keys: readonly string[]): EditorResult | undefined {
  let result: EditorResult | undefined;
  for (const words of keys) result = editor.input(keyOf(words));
  return result;
}

export function type(editor: Editor, text: string): void {
  editor.input({ type: "text", text });
}

export function paste(editor: Editor, text: string): void {
  editor.input({ type: "paste", text });
}

/** Returns the rows with "|" at the cursor. */
export function drawn(editor: Editor, columns = 40, maxRows = 12): string[] {
  const { lines, cursor } = editor.draw(columns, maxRows);
  return lines.map((line, row) => {
    if (row !== cursor.row) return line;
    const padded = line.padEnd(cursor.column);
    return `${padded.slice(0, cursor.column)}|${padded.slice(cursor.column)}`;
  });
}

/** Returns the text with "|" at the cursor, of a draft that fits on the screen unwrapped. */
export function atCursor(editor: Editor): string {
  return drawn(editor, 1000, 1000)
    .map((line) => line.slice(2))
    .join("\n");
}
