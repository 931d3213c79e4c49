/** Random keys, compared with a plain string and a cursor. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { wholeText } from "../../../src/screen/editor/draft.ts";
import { nextBoundary, previousBoundary } from "../../../src/screen/editor/grapheme.ts";
import { TextBuffer } from "../../../src/screen/editor/text-buffer.ts";
import { textWidth } from "../../../src/screen/width.ts";
import { drawn, newEditor, paste, press, type } from "./driving.ts";

/** Letters, blanks, wide characters, joined emoji, combining marks and strange ones. */
const pieces = [
  "a",
  "b",
  "z9",
  " ",
  "\t",
  ".",
  "漢",
  "é",
  "👨‍👩‍👧",
  "🇩🇪",
  "\u0301",
  "\u200b",
  "\u202e",
  "\u001b",
  "\n",
  "\ud800",
  "❤️",
  "한",
  "न्",
];
const anyText = fc
  .array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 12 })
  .map((parts) => parts.join(""));

describe("boundaries between characters", () => {
  it("are the same forwards and backwards, and those of Intl.Segmenter", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const forwards: number[] = [];
        for (let at = 0; at < text.length; at = nextBoundary(text, at)) forwards.push(at);
        const backwards: number[] = [];
        for (let at = text.length; at > 0;) backwards.unshift((at = previousBoundary(text, at)));
        const expected = [...new Intl.Segmenter("en").segment(text)].map(({ index }) => index);
        assert.deepEqual(forwards, expected);
        assert.deepEqual(backwards, expected);
      }),
      { numRuns: 500 },
    );
  });
});

interface Model {
  text: string;
  cursor: number;
}

const before = (text: string, at: number): number =>
  [...new Intl.Segmenter("en").segment(text)].findLast(({ index }) => index < at)?.index ?? 0;
const after = (text: string, at: number): number =>
  [...new Intl.Segmenter("en").segment(text)].find(({ index }) => index > at)?.index ?? text.length;
const startOf = ({ text, cursor }: Model): number => text.slice(0, cursor).lastIndexOf("\n") + 1;
const endOf = ({ text, cursor }: Model): number =>
  cursor + /[^\n]*/.exec(text.slice(cursor))![0].length;
const replace = (model: Model, start: number, end: number, text: string): Model => ({
  text: model.text.slice(0, start) + text + model.text.slice(end),
  cursor: start + text.length,
});

const steps: Readonly<Record<string, (model: Model) => Model>> = {
  left: (model) => ({ ...model, cursor: before(model.text, model.cursor) }),
  right: (model) => ({ ...model, cursor: after(model.text, model.cursor) }),
  home: (model) => ({ ...model, cursor: startOf(model) }),
  "ctrl-e": (model) => ({ ...model, cursor: endOf(model) }),
  "ctrl-home": (model) => ({ ...model, cursor: 0 }),
  "ctrl-end": (model) => ({ ...model, cursor: model.text.length }),
  backspace: (model) => replace(model, before(model.text, model.cursor), model.cursor, ""),
  delete: (model) => replace(model, model.cursor, after(model.text, model.cursor), ""),
  "ctrl-j": (model) => replace(model, model.cursor, model.cursor, "\n"),
  "ctrl-k": (model) =>
    replace(
      model,
      model.cursor,
      Math.max(endOf(model), Math.min(model.cursor + 1, model.text.length)),
      "",
    ),
  "ctrl-u": (model) => {
    const start = startOf(model);
    return replace(
      model,
      start === model.cursor ? Math.max(0, start - 1) : start,
      model.cursor,
      "",
    );
  },
};
const clean = (text: string): string =>
  text.replace(/\r\n?/g, "\n").replace(/\p{Surrogate}/gu, "\ufffd");

describe("random keys", () => {
  const step = fc.oneof(
    { weight: 2, arbitrary: anyText },
    { weight: 3, arbitrary: fc.constantFrom(...Object.keys(steps)).map((name) => ({ name })) },
  );

  it("change the text and the cursor as they change a plain string", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (run) => {
        const editor = newEditor();
        let model: Model = { text: "", cursor: 0 };
        for (const action of run) {
          if (typeof action === "string") {
            type(editor, action);
            model = replace(model, model.cursor, model.cursor, clean(action));
          } else {
            press(editor, action.name);
            model = steps[action.name]!(model);
          }
          assert.equal(editor.text(), model.text);
          // The cursor shows where the next character goes.
          type(editor, "|");
          assert.equal(
            editor.text(),
            `${model.text.slice(0, model.cursor)}|${model.text.slice(model.cursor)}`,
          );
          press(editor, "backspace");
        }
      }),
      { numRuns: 200 },
    );
  });

  const names = [
    ...Object.keys(steps),
    ..."up down alt-b alt-f ctrl-w alt-d alt-backspace ctrl-y alt-y".split(" "),
    ..."pageUp pageDown ctrl-r escape tab enter ctrl-_".split(" "),
  ];
  const anything = fc.oneof(
    anyText,
    fc.constantFrom(...names).map((name) => ({ name })),
    fc.integer({ min: 1, max: 30 }).map((lines) => ({ lines })),
  );

  it("keep the drawing inside its bounds, with the cursor in it", () => {
    fc.assert(
      fc.property(
        fc.array(anything, { maxLength: 40 }),
        fc.integer({ min: 16, max: 60 }),
        fc.integer({ min: 1, max: 12 }),
        (run, columns, rows) => {
          const editor = newEditor();
          for (const action of run) {
            if (typeof action === "string") type(editor, action);
            else if ("lines" in action) paste(editor, "pasted 漢\n".repeat(action.lines));
            else press(editor, action.name);
            const { lines, cursor } = editor.draw(columns, rows);
            assert.ok(lines.length <= rows);
            assert.ok(cursor.row >= 0 && cursor.row < lines.length);
            assert.ok(cursor.column >= 2 && cursor.column < columns);
            for (const line of lines) assert.ok(textWidth(line) <= columns, line);
          }
        },
      ),
      { numRuns: 200 },
    );
  });

  it("are undone to the empty draft, the pastes too", () => {
    fc.assert(
      fc.property(fc.array(anything, { maxLength: 30 }), (run) => {
        const editor = newEditor();
        for (const action of run) {
          if (typeof action === "string") type(editor, action);
          else if ("lines" in action) paste(editor, "pasted\n".repeat(action.lines));
          else if (action.name !== "enter") press(editor, action.name);
        }
        press(editor, "escape", ...Array.from({ length: 200 }, () => "ctrl-_"));
        assert.equal(editor.text(), "");
      }),
      { numRuns: 100 },
    );
  });

  it("lose nothing that was killed: yanking it at once restores the text", () => {
    const kills = ["ctrl-w", "alt-backspace", "alt-d", "ctrl-u", "ctrl-k"];
    fc.assert(
      fc.property(
        anyText,
        fc.array(fc.constantFrom("left", "alt-b", "home"), { maxLength: 5 }),
        fc.constantFrom(...kills),
        (text, moves, kill) => {
          const editor = newEditor();
          type(editor, text);
          press(editor, ...moves);
          const whole = editor.text();
          press(editor, kill);
          const isKilled = editor.text() !== whole;
          press(editor, "ctrl-y");
          assert.equal(editor.text(), isKilled ? whole : editor.text());
        },
      ),
    );
  });

  it("never change a folded paste inside", () => {
    const body = Array.from({ length: 15 }, (_, index) => `row ${index}`).join("\n");
    fc.assert(
      fc.property(fc.array(anything, { maxLength: 30 }), (run) => {
        const editor = newEditor();
        paste(editor, body);
        for (const action of run) {
          if (typeof action === "string") type(editor, action);
          else if ("name" in action && action.name !== "enter") press(editor, action.name);
        }
        press(editor, "escape");
        const whole = wholeText(editor.draft());
        for (const [, text] of editor.draft().pastes) {
          assert.equal(text, body);
          assert.ok(whole.includes(body));
        }
      }),
      { numRuns: 100 },
    );
  });
});

describe("a text buffer", () => {
  it("returns to each earlier state by undo", () => {
    const edit = fc.record({
      start: fc.nat(20),
      length: fc.nat(5),
      text: fc.string({ maxLength: 4 }),
    });
    fc.assert(
      fc.property(fc.array(edit, { maxLength: 40 }), (edits) => {
        const buffer = new TextBuffer();
        const states: string[] = [];
        for (const { start, length, text } of edits) {
          const from = Math.min(start, buffer.text.length);
          const to = Math.min(from + length, buffer.text.length);
          if (buffer.text.slice(from, to) !== text) states.push(buffer.text);
          buffer.replace(from, to, text);
        }
        for (const state of states.toReversed()) {
          assert.ok(buffer.undo());
          assert.equal(buffer.text, state);
        }
        assert.equal(buffer.undo(), false);
      }),
    );
  });
});

describe("drawing", () => {
  it("shows all that was typed, in order", () => {
    fc.assert(
      fc.property(fc.array(fc.stringMatching(/^[a-z]{1,12}$/), { maxLength: 40 }), (words) => {
        const editor = newEditor();
        type(editor, words.join(" "));
        const rows = drawn(editor, 40, 100).map((row) => row.slice(2).replace("|", ""));
        assert.deepEqual(rows.join(" ").split(/ +/).filter(Boolean), words);
      }),
    );
  });
});
