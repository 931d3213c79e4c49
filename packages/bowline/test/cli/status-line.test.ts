import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { StatusLine } from "../../src/cli/status-line.ts";

/** Returns what is written to a terminal with these properties. */
function written(
  terminal: { isTTY?: boolean; columns?: number },
  env: Record<string, string> = {},
): string[] {
  const texts: string[] = [];
  const line = new StatusLine({ ...terminal, write: (text) => texts.push(text) }, env);
  line.clear();
  line.show("… waiting for the model, 12 s");
  line.clear();
  line.clear();
  return texts;
}

const clear = "\r\u001b[2K";

describe("the status line", () => {
  it("replaces the previous one, and is cleared once", () => {
    assert.deepEqual(written({ isTTY: true, columns: 80 }), [
      `${clear}… waiting for the model, 12 s`,
      clear,
    ]);
  });

  it("takes one row on a narrow terminal, because a second row would not be cleared", () => {
    assert.deepEqual(written({ isTTY: true, columns: 20 }), [`${clear}… waiting for the …`, clear]);
    assert.equal(written({ isTTY: true, columns: 0 }).length, 2);
  });

  it("takes one row per line, clears them all, and does not wrap at double-width characters", () => {
    const texts: string[] = [];
    const line = new StatusLine(
      { isTTY: true, columns: 20, write: (text) => texts.push(text) },
      {},
    );
    line.show("one\ntwo\nthree");
    line.show(`${"漢".repeat(15)}\nb`);
    line.clear();
    const up = "\u001b[1A\u001b[2K";
    assert.deepEqual(texts, [
      `${clear}one\ntwo\nthree`,
      `${clear}${up}${up}${"漢".repeat(9)}\nb`,
      `${clear}${up}`,
    ]);
  });

  it("is not shown without a terminal, or on one that cannot move the cursor back", () => {
    assert.deepEqual(written({ isTTY: false }), []);
    assert.deepEqual(written({ isTTY: true }, { TERM: "dumb" }), []);
  });
});
