import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "@bowline/core";
import { drawLive } from "../../src/chat/draw-live.ts";
import { initialState } from "../../src/chat/state.ts";
import { colours } from "../../src/screen/colours.ts";
import { Editor } from "../../src/screen/editor/editor.ts";
import { History } from "../../src/screen/editor/history.ts";
import { textWidth } from "../../src/screen/width.ts";

const plain = colours({ isTTY: false, write: () => true }, {});

function live(columns: number, maxRows: number, tail: readonly string[]): readonly string[] {
  const answer = { since: 0, thinking: "", words: 0, isThinking: false };
  const state = { ...initialState(), phase: "working" as const, model: "vendor/model", answer };
  const editor = new Editor({ history: new History({ project: "/", clock: systemClock }) });
  const view = { tail: (rows: number): string[] => tail.slice(-rows) };
  const parts = { state, view, editor, question: undefined, colours: plain, now: 1000 };
  return drawLive(parts, columns, maxRows).lines;
}

test("the live rows of any window fit in it when it becomes 40 columns wide", () => {
  for (let columns = 40; columns <= 240; columns += 20)
    for (let rows = 18; rows <= 72; rows += 6) {
      const tail = Array.from({ length: 40 }, () => "x".repeat(columns));
      const lines = live(columns, rows / 3, tail);
      const wrapped = lines.map((line) => Math.max(1, Math.ceil(textWidth(line) / 40)));
      const sum = wrapped.reduce((all, one) => all + one, 0);
      assert.ok(sum < rows, `${columns} × ${rows}: ${sum} rows`);
      assert.ok(lines[0]?.startsWith("x"), "the end of the answer is shown");
    }
});

test("short rows of an answer use all of the live area", () => {
  const lines = live(
    200,
    12,
    Array.from({ length: 40 }, (_, row) => `row ${row}`),
  );
  assert.equal(lines.length, 12);
});
