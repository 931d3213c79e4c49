import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { wholeText } from "../../../src/screen/editor/draft.ts";
import { atCursor, drawn, newEditor, newHistory, paste, press, type } from "./driving.ts";

function withHistory(...texts: readonly string[]) {
  const history = newHistory();
  for (const text of texts) history.add([{ type: "text", text }]);
  return newEditor({ history });
}

describe("the history by Up and Down", () => {
  it("shows older entries, and the text that was being typed at the end", () => {
    const editor = withHistory("first", "second");
    type(editor, "typing");
    press(editor, "up");
    assert.equal(atCursor(editor), "second|");
    press(editor, "up", "up");
    assert.equal(atCursor(editor), "first|");
    press(editor, "down", "down", "down");
    assert.equal(atCursor(editor), "typing|");
  });

  it("keeps what was changed in an entry on the way", () => {
    const editor = withHistory("first", "second");
    press(editor, "up");
    type(editor, "!");
    press(editor, "up", "down");
    assert.equal(editor.text(), "second!");
    press(editor, "enter", "up", "up");
    assert.equal(editor.text(), "second");
  });

  it("goes through an entry of several rows only downwards", () => {
    const editor = withHistory("first", "a\nb\nc");
    press(editor, "up");
    assert.equal(atCursor(editor), "a|\nb\nc");
    press(editor, "up");
    assert.equal(editor.text(), "first");
    press(editor, "down");
    assert.equal(atCursor(editor), "a\nb\nc|");
  });

  it("brings a cleared draft back with its pastes", () => {
    const editor = newEditor();
    type(editor, "look at ");
    paste(editor, "x\n".repeat(20));
    editor.clear();
    assert.equal(editor.isEmpty, true);
    press(editor, "up");
    assert.equal(wholeText(editor.draft()), `look at ${"x\n".repeat(20)}`);
  });

  it("has an entry once if it is sent twice", () => {
    const editor = withHistory("first");
    for (const text of ["again", "again"]) {
      type(editor, text);
      press(editor, "enter");
    }
    press(editor, "up", "up");
    assert.equal(editor.text(), "first");
  });

  it("does not add an empty draft that is cleared", () => {
    const editor = withHistory("first");
    editor.clear();
    press(editor, "up");
    assert.equal(editor.text(), "first");
  });
});

describe("the search in the history", () => {
  it("shows the newest entry that contains the query, then older ones", () => {
    const editor = withHistory("npm test", "git log", "npm run build");
    press(editor, "ctrl-r");
    type(editor, "NPM");
    assert.deepEqual(drawn(editor, 80), [
      "> |npm run build",
      "  search: NPM · Enter takes it, Ctrl-R older, Esc back",
    ]);
    press(editor, "ctrl-r");
    assert.equal(drawn(editor, 80)[0], "> |npm test");
    press(editor, "ctrl-r");
    assert.equal(drawn(editor, 80)[0], "> |npm test");
    assert.equal(press(editor, "enter"), undefined);
    assert.equal(atCursor(editor), "npm test|");
  });

  it("gives the draft back on Escape, Ctrl-C and Ctrl-G", () => {
    for (const words of ["escape", "ctrl-c", "ctrl-g"]) {
      const editor = withHistory("found");
      type(editor, "draft");
      press(editor, "ctrl-r");
      type(editor, "fou");
      assert.equal(editor.isMenuOpen, true);
      assert.equal(press(editor, words), undefined);
      assert.equal(editor.text(), "draft");
      assert.equal(editor.isMenuOpen, false);
    }
  });

  it("keeps the last match and says so when nothing is found", () => {
    const editor = withHistory("git log");
    press(editor, "ctrl-r");
    type(editor, "gitx");
    assert.equal(drawn(editor, 40)[1], "  search: gitx (not found)");
    press(editor, "backspace");
    assert.deepEqual(drawn(editor, 40), ["> |git log", "  search: git · Enter, Ctrl-R, Esc"]);
  });

  it("takes the entry on another key, which then has its own meaning", () => {
    const editor = withHistory("git log");
    press(editor, "ctrl-r");
    type(editor, "log");
    press(editor, "home");
    type(editor, "> ");
    assert.equal(editor.text(), "> git log");
  });

  it("skips entries with the same text", () => {
    const editor = withHistory("same", "other", "same");
    press(editor, "ctrl-r");
    type(editor, "s");
    press(editor, "ctrl-r", "enter");
    assert.equal(editor.text(), "same");
  });
});
