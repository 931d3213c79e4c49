/** The check of what a program may never write to a terminal. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { assertGentle } from "./gentle.ts";

describe("assertGentle", () => {
  for (const bytes of ["\u001b[2J", "a\u001b[3J", "\u001b[H\u001b[2;3J"])
    it(`refuses the erasure ${JSON.stringify(bytes)}`, () => {
      assert.throws(() => assertGentle(bytes), /erases the terminal/);
    });

  for (const bytes of ["\u001b[?1000h", "\u001b[?25;1006h"])
    it(`refuses the mouse mode ${JSON.stringify(bytes)}`, () => {
      assert.throws(() => assertGentle(bytes), /takes the mouse/);
    });

  it("refuses a reset", () => {
    assert.throws(() => assertGentle("\u001bc"), /resets/);
  });

  it("accepts erasing to the end, the alternate screen and bracketed paste", () => {
    assertGentle("\u001b[J\u001b[0J\u001b[K\u001b[?1049h\u001b[?2004h\u001b[?1000l");
  });
});
