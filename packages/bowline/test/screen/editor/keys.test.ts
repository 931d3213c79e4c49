import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { wholeText } from "../../../src/screen/editor/draft.ts";
import { atCursor, drawn, keyOf, newEditor, press, type } from "./driving.ts";

describe("the keys of the editor", () => {
  it("submits on Enter and starts an empty draft", () => {
    const editor = newEditor();
    type(editor, "hello");
    const result = press(editor, "enter");
    assert.equal(result?.type, "submit");
    assert.equal(result.draft.text, "hello");
    assert.equal(editor.isEmpty, true);
  });

  it("queues on Alt-Enter", () => {
    const editor = newEditor();
    type(editor, "later");
    const result = press(editor, "alt-enter");
    assert.equal(result?.type, "queue");
    assert.equal(result.draft.text, "later");
  });

  for (const words of ["ctrl-j", "shift-enter", "ctrl-enter"])
    it(`begins a line on ${words}`, () => {
      const editor = newEditor();
      type(editor, "a");
      assert.equal(press(editor, words), undefined);
      type(editor, "b");
      assert.equal(editor.text(), "a\nb");
    });

  it("begins a line on Enter after a backslash, which disappears", () => {
    const editor = newEditor();
    type(editor, "a\\");
    assert.equal(press(editor, "enter"), undefined);
    type(editor, "b");
    assert.equal(editor.text(), "a\nb");
  });

  it("returns Enter as unused for a draft of white space", () => {
    const editor = newEditor();
    type(editor, "  ");
    assert.equal(press(editor, "enter")?.type, "unused");
  });

  const unused = [
    "escape",
    "ctrl-c",
    "ctrl-z",
    "ctrl-g",
    "ctrl-d",
    "tab",
    "shift-tab",
    "f1",
    "alt-x",
  ];
  it("returns keys that are not the editor's", () => {
    for (const words of unused)
      assert.deepEqual(press(newEditor(), words), { type: "unused", input: keyOf(words) }, words);
  });

  it("deletes on Ctrl-D only if there is text", () => {
    const editor = newEditor();
    type(editor, "ab");
    press(editor, "home");
    assert.equal(press(editor, "ctrl-d"), undefined);
    assert.equal(editor.text(), "b");
  });

  const moves: readonly (readonly [string, string])[] = [
    ["ctrl-a", "one two\n|three, four"],
    ["home", "one two\n|three, four"],
    ["alt-b", "one two\nthree, |four"],
    ["alt-left", "one two\nthree, |four"],
    ["ctrl-left", "one two\nthree, |four"],
    ["left", "one two\nthree, fou|r"],
    ["ctrl-home", "|one two\nthree, four"],
    ["up", "one two|\nthree, four"],
  ];
  for (const [words, expected] of moves)
    it(`moves from the end on ${words}`, () => {
      const editor = newEditor();
      editor.set("one two\nthree, four");
      drawn(editor, 80);
      press(editor, words);
      assert.equal(atCursor(editor), expected);
    });

  it("moves forward by words, to line ends and to the end", () => {
    const editor = newEditor();
    editor.set("one two\nthree");
    press(editor, "ctrl-home", "alt-f");
    assert.equal(atCursor(editor), "one| two\nthree");
    press(editor, "ctrl-e");
    assert.equal(atCursor(editor), "one two|\nthree");
    press(editor, "ctrl-right");
    assert.equal(atCursor(editor), "one two\nthree|");
    press(editor, "ctrl-home", "ctrl-end");
    assert.equal(atCursor(editor), "one two\nthree|");
  });

  it("keeps the column when it moves over a shorter row", () => {
    const editor = newEditor();
    editor.set("long row\nx\nanother row");
    press(editor, "up", "up");
    assert.equal(atCursor(editor), "long row|\nx\nanother row");
    press(editor, "down", "down");
    assert.equal(atCursor(editor), "long row\nx\nanother row|");
  });

  it("treats Up and Down as rows of a wrapped line", () => {
    const editor = newEditor();
    type(editor, "word ".repeat(12).trim());
    drawn(editor, 40);
    press(editor, "up");
    assert.deepEqual(drawn(editor, 40), [
      "> word word word word word| word word",
      "  word word word word word",
    ]);
  });
});

describe("killing and yanking", () => {
  it("kills by blank on Ctrl-W and by letters on Alt-Backspace", () => {
    const editor = newEditor();
    type(editor, "open src/main.ts");
    press(editor, "alt-backspace");
    assert.equal(editor.text(), "open src/main.");
    press(editor, "ctrl-w");
    assert.equal(editor.text(), "open ");
  });

  it("joins kills that follow each other and yanks them as one", () => {
    const editor = newEditor();
    type(editor, "one two three");
    press(editor, "ctrl-w", "ctrl-w", "ctrl-y", "ctrl-y");
    assert.equal(editor.text(), "one two threetwo three");
  });

  it("keeps kills apart after a movement, and goes round them on Alt-Y", () => {
    const editor = newEditor();
    type(editor, "one two");
    press(editor, "ctrl-w", "left", "ctrl-e", "ctrl-u", "ctrl-y");
    assert.equal(editor.text(), "one ");
    press(editor, "alt-y");
    assert.equal(editor.text(), "two");
    press(editor, "alt-y");
    assert.equal(editor.text(), "one ");
  });

  it("ignores Alt-Y without a yank before it", () => {
    const editor = newEditor();
    type(editor, "one two");
    press(editor, "ctrl-w", "alt-y");
    assert.equal(editor.text(), "one ");
  });

  it("kills to the line's start and end, then the line feed", () => {
    const editor = newEditor();
    editor.set("one\ntwo\nthree");
    press(editor, "up", "ctrl-u");
    assert.equal(editor.text(), "one\n\nthree");
    press(editor, "ctrl-u");
    assert.equal(editor.text(), "one\nthree");
    press(editor, "home", "ctrl-k", "ctrl-k");
    assert.equal(editor.text(), "three");
    press(editor, "ctrl-y");
    assert.equal(editor.text(), "one\nthree");
  });

  it("yanks after a submit what was killed before, a folded paste too", () => {
    const editor = newEditor();
    editor.input({ type: "paste", text: "x\n".repeat(20) });
    press(editor, "ctrl-u");
    type(editor, "other");
    press(editor, "enter", "ctrl-y");
    assert.equal(wholeText(editor.draft()), "x\n".repeat(20));
  });
});

describe("undo", () => {
  it("takes back typing by words, and one press of another key at a time", () => {
    const editor = newEditor();
    for (const char of "one two") type(editor, char);
    press(editor, "ctrl-_");
    assert.equal(editor.text(), "one ");
    press(editor, "ctrl-_");
    assert.equal(editor.text(), "");
    press(editor, "ctrl-_");
    assert.equal(editor.text(), "");
  });

  it("brings back a cleared draft", () => {
    const editor = newEditor();
    type(editor, "precious");
    editor.clear();
    press(editor, "ctrl-_");
    assert.equal(editor.text(), "precious");
  });

  it("does not bring back what was sent", () => {
    const editor = newEditor();
    type(editor, "sent");
    press(editor, "enter", "ctrl-_");
    assert.equal(editor.text(), "");
  });
});

describe("characters of several code units", () => {
  const family = "👨‍👩‍👧";
  for (const char of [family, "é", "🇩🇪", "漢", "👍🏽", "न्नि"])
    it(`deletes ${JSON.stringify(char)} with one key`, () => {
      const editor = newEditor();
      type(editor, `a${char}b${char}`);
      press(editor, "backspace", "left", "left", "delete");
      assert.equal(editor.text(), "ab");
    });

  it("puts the cursor behind wide characters", () => {
    const editor = newEditor();
    type(editor, `漢字${family}!`);
    assert.equal(editor.draw(40, 5).cursor.column, 2 + 4 + 2 + 1);
    press(editor, "left", "left");
    assert.equal(editor.draw(40, 5).cursor.column, 2 + 4);
  });
});
