import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { drawn, newEditor, paste, press, type } from "./driving.ts";

describe("drawing the draft", () => {
  it("draws an empty draft as its prompt", () => {
    assert.deepEqual(drawn(newEditor()), ["> |"]);
  });

  it("wraps between words, and indents the rows that follow", () => {
    const editor = newEditor();
    type(editor, "Please look at the tests of the editor and mend them");
    assert.deepEqual(drawn(editor, 40), [
      "> Please look at the tests of the",
      "  editor and mend them|",
    ]);
  });

  it("breaks a word that is longer than a row", () => {
    const editor = newEditor();
    type(editor, `a ${"x".repeat(50)}`);
    assert.deepEqual(drawn(editor, 40), ["> a", `  ${"x".repeat(37)}`, `  ${"x".repeat(13)}|`]);
  });

  it("wraps wide characters without a blank between them", () => {
    const editor = newEditor();
    type(editor, "漢".repeat(20));
    assert.deepEqual(editor.draw(40, 5).lines, [`> ${"漢".repeat(18)}`, `  ${"漢".repeat(2)}`]);
    assert.deepEqual(editor.draw(40, 5).cursor, { row: 1, column: 6 });
  });

  it("shows all words of a paste's label at 40 columns", () => {
    const editor = newEditor();
    paste(editor, `${"x".repeat(40)}\n`.repeat(10_000));
    assert.deepEqual(drawn(editor, 40), ["> [Pasted text #1, 10,000 lines, 410", "  kB]|"]);
    press(editor, "left");
    assert.equal(drawn(editor, 40)[0], "> |[Pasted text #1, 10,000 lines, 410");
  });

  it("shows control characters as symbols", () => {
    const editor = newEditor();
    paste(editor, "a\u001b[2Jb\u0007\u202e");
    assert.deepEqual(drawn(editor), ["> a␛[2Jb␇␡|"]);
    assert.equal(editor.text(), "a\u001b[2Jb\u0007\u202e");
  });

  it("shows the rows around the cursor and the number of hidden lines", () => {
    const editor = newEditor();
    editor.set(Array.from({ length: 100 }, (_, index) => `line ${index + 1}`).join("\n"));
    assert.deepEqual(drawn(editor, 40, 4), [
      "  … 97 more lines above",
      "  line 98",
      "  line 99",
      "  line 100|",
    ]);
    press(editor, ...Array.from({ length: 50 }, () => "up"));
    assert.deepEqual(drawn(editor, 40, 5), [
      "  … 48 more lines above",
      "  line 49",
      "  line 50|",
      "  line 51",
      "  … 49 more lines below",
    ]);
    press(editor, "ctrl-home");
    assert.deepEqual(drawn(editor, 40, 3), ["> |line 1", "  line 2", "  … 98 more lines below"]);
  });

  for (const rows of [1, 2, 3, 4, 7])
    it(`always shows the cursor's row in ${rows} rows`, () => {
      const editor = newEditor();
      editor.set(`${"some words ".repeat(30)}\n${"more ".repeat(40)}\nend`);
      for (let step = 0; step < 30; step++) {
        const { lines, cursor } = editor.draw(40, rows);
        assert.ok(lines.length <= rows);
        assert.ok(cursor.row < lines.length);
        assert.ok(!lines[cursor.row]?.includes("…"), "the mark hides the cursor's row");
        press(editor, "up");
      }
      assert.equal(editor.draw(40, rows).cursor.column, 5);
    });
});
