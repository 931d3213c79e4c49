/** The lines of one chunk. Listeners compare at once, so that a reader that goes on too far fails. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { SseReader } from "../../src/transport/sse.ts";

const ends = { "a line feed": "\n", "a carriage return": "\r" };

for (const [name, end] of Object.entries(ends))
  it(`reads events of several lines from one chunk, if lines end with ${name}`, () => {
    const expected = ["one\ntwo", "three"];
    let count = 0;
    const reader = new SseReader(
      { event: (data) => assert.equal(data, expected[count++]) },
      { maxEventLength: 50 },
    );
    const lines = ["data: one", "data: two", "", "data: three", "", ""];
    reader.push(new TextEncoder().encode(lines.join(end)));
    assert.equal(count, expected.length);
  });
