/** The keys under which Restate knows a message. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { keyAfter } from "../src/client-message.ts";

const MINUTE = 60_000;

describe("the key of a message that waits", () => {
  it("changes after 1, 2, 4, 8 and 16 minutes, and then every 16 minutes", () => {
    const changes: number[] = [];
    for (let minute = 0; minute <= 64; minute++)
      if (keyAfter("m", minute * MINUTE) !== keyAfter("m", minute * MINUTE - 1))
        changes.push(minute);
    assert.deepEqual(changes, [1, 2, 4, 8, 16, 32, 48, 64]);
  });

  it("is never one that it had before", () => {
    const keys = Array.from({ length: 24 * 60 }, (_, minute) => keyAfter("m", minute * MINUTE));
    const inOrder = keys.filter((key, at) => key !== keys[at - 1]);
    assert.equal(new Set(inOrder).size, inOrder.length);
    assert.equal(inOrder.length, 6 + Math.floor((24 * 60 - 1 - 16) / 16));
  });

  it("is that of the message before a minute is over, also where clocks differ", () => {
    assert.equal(keyAfter("m", MINUTE - 1), "m");
    assert.equal(keyAfter("m", -MINUTE), "m");
    assert.equal(keyAfter("m", 0, 2), "m:back:2");
  });
});
