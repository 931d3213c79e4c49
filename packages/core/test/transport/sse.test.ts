import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { isBowlineError } from "../../src/errors.ts";
import { SseReader } from "../../src/transport/sse.ts";

type Event = [data: string, name: string];

function read(chunks: readonly Uint8Array[]): Event[] {
  const events: Event[] = [];
  const reader = new SseReader({ event: (data, name) => void events.push([data, name]) });
  for (const chunk of chunks) reader.push(chunk);
  reader.end();
  return events;
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const readText = (text: string): Event[] => read([bytes(text)]);

/** The bytes split at the given places. */
function cut(whole: Uint8Array, places: readonly number[]): Uint8Array[] {
  const sorted = [
    0,
    ...places.map((place) => place % (whole.length + 1)).toSorted((a, b) => a - b),
    whole.length,
  ];
  return sorted.slice(1).map((end, index) => whole.subarray(sorted[index], end));
}

describe("the SSE reader", () => {
  const cases: Record<string, [string, Event[]]> = {
    // Q001
    "accepts LF, CRLF, CR and a mixture as line ends": [
      "data: a\n\ndata: b\r\n\r\ndata: c\r\rdata: d\n\r\n",
      [
        ["a", ""],
        ["b", ""],
        ["c", ""],
        ["d", ""],
      ],
    ],
    // Q004
    "drops one leading BOM, and keeps later ones": [
      "\ufeffdata: a\n\ndata: \ufeffb\n\n",
      [
        ["a", ""],
        ["\ufeffb", ""],
      ],
    ],
    // Q005
    "splits lines at CR and LF only": [
      "data: a\u2028b\u0085c\u000bd\n\n",
      [["a\u2028b\u0085c\u000bd", ""]],
    ],
    // Q006
    "ignores comments": [": OPENROUTER PROCESSING\n\ndata: a\n: x\n\n", [["a", ""]]],
    // Q008
    "ignores empty data": ["data:\n\ndata: \n\ndata: a\n\n", [["a", ""]]],
    // Q009
    "needs no space after the colon, and strips only one": [
      "data:a\n\ndata:  b\n\n",
      [
        ["a", ""],
        [" b", ""],
      ],
    ],
    // Q010
    "joins several data lines": ["data: {\ndata: 1}\n\n", [["{\n1}", ""]]],
    // Q011
    "reads event, id and retry, and ignores other fields": [
      "event: x\nid: 7\nretry: 10\nid\nfoo: bar\ndata: a\n\nevent\ndata: b\n\n",
      [
        ["a", "x"],
        ["b", ""],
      ],
    ],
    // Q013
    "delivers a last event without a blank line": [
      "data: a\n\ndata: b",
      [
        ["a", ""],
        ["b", ""],
      ],
    ],
  };
  for (const [what, [text, expected]] of Object.entries(cases))
    it(what, () => assert.deepEqual(readText(text), expected));

  // Q002, Q003
  it("gives the same events for any chunks", () => {
    const piece = fc.constantFrom(
      "data: ",
      "data:",
      "event: e",
      ": c",
      "\n",
      "\r\n",
      "\r",
      "\n\n",
      "ä€😀",
      "x",
      '{"a":1}',
      "\ufeff",
      "id",
      ":",
    );
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 40 }),
        fc.array(fc.nat(), { maxLength: 12 }),
        (pieces, places) => {
          const whole = bytes(pieces.join(""));
          assert.deepEqual(read(cut(whole, places)), read([whole]));
          assert.deepEqual(read(Array.from(whole, (byte) => Uint8Array.of(byte))), read([whole]));
        },
      ),
      { numRuns: 500 },
    );
  });

  it("reads invalid UTF-8 the same for any chunks", () => {
    const byte = fc.oneof(
      fc.constantFrom(10, 13, 0xc3, 0xa4, 0xe2, 0x82, 0xf0, 0x9f, 0x98, 0x80, 0xff),
      fc.nat(255),
    );
    fc.assert(
      fc.property(
        fc.array(byte, { maxLength: 30 }),
        fc.array(fc.nat(), { maxLength: 5 }),
        (noise, places) => {
          const whole = Uint8Array.from([...bytes("data: a"), ...noise, ...bytes("\n\ndata: b")]);
          assert.deepEqual(read(cut(whole, places)), read([whole]));
          assert.deepEqual(read(Array.from(whole, (one) => Uint8Array.of(one))), read([whole]));
        },
      ),
      { numRuns: 500 },
    );
  });

  // Q004
  it("drops only one BOM, even if it is split over two chunks", () => {
    const whole = bytes("\ufeff\ufeffdata: a\n\ndata: b\n\n");
    for (let at = 0; at <= whole.length; at++)
      assert.deepEqual(read(cut(whole, [at])), [["b", ""]], `cut at ${at}`);
  });

  it("stores lines that are not events, to describe the body", () => {
    const reader = new SseReader({ event: () => assert.fail("no event expected") });
    reader.push(bytes("<!doctype html>\n<title>Sign in</title>"));
    reader.end();
    assert.equal(reader.stray, "<!doctype html>\n<title>Sign in</title>\n");
  });

  // Q029
  it("refuses an event beyond its size limit, with a typed error", () => {
    const endless = new SseReader({ event: () => {} }, { maxEventLength: 100 });
    assert.throws(
      () => endless.push(bytes(`data: ${"x".repeat(200)}`)),
      (error) => isBowlineError(error) && error.code === "stream_corrupt",
    );
    const lines = new SseReader({ event: () => {} }, { maxEventLength: 100 });
    assert.throws(
      () => lines.push(bytes(`data: ${"x".repeat(60)}\ndata: ${"x".repeat(60)}\n`)),
      isBowlineError,
    );
    const whole = new SseReader({ event: () => {} }, { maxEventLength: 100 });
    assert.throws(() => whole.push(bytes(`data: ${"x".repeat(200)}\n\n`)), isBowlineError);
  });
});
