/**
 * Lines of files, from either end and from any place: correct for any length, without reading more
 * than needed.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { linesBackward, linesForward } from "../../../src/session/node/lines.ts";
import { readEntries, readHeader, readTail } from "../../../src/session/node/read-log.ts";
import { encodeEntry, encodeHeader } from "../../../src/session/node/record.ts";
import { collect, MemoryFile, seqs, upTo } from "../support.ts";

// Around the chunk sizes of 16 kB and 32 kB, and far beyond.
const lengths = fc.oneof(
  fc.nat(100),
  fc.integer({ min: 16_370, max: 16_400 }),
  fc.integer({ min: 32_750, max: 50_000 }),
);

describe("the lines of a file", () => {
  it("are the same forward and backward, at any length, without a torn last line", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(lengths, { maxLength: 8 }), fc.nat(20), async (sizes, torn) => {
        const texts = sizes.map((size, at) => String(at % 10).repeat(size));
        const bytes = Buffer.from(texts.map((text) => `${text}\n`).join("") + "t".repeat(torn));
        const file = new MemoryFile(bytes);
        const show = ({ offset, bytes: line }: { offset: number; bytes: Buffer }): string =>
          `${offset} ${line.toString()}`;
        const forward = (await collect(linesForward(file, 0, bytes.length))).flat().map(show);
        const backward = (await collect(linesBackward(file, bytes.length))).flat().map(show);
        let offset = 0;
        const expected = texts.map((text) => {
          offset += text.length + 1;
          return `${offset - text.length - 1} ${text}`;
        });
        assert.deepEqual(forward, expected);
        assert.deepEqual(backward, expected.toReversed());
      }),
      { numRuns: 100 },
    );
  });
});

describe("a session file of 5 MB", () => {
  const entry = (seq: number): Buffer =>
    encodeEntry({
      seq,
      id: `e${seq}`,
      parentId: null,
      timestamp: 1,
      type: "x".repeat(seq % 1000 === 7 ? 40_000 : 400),
    });
  const log = Buffer.concat([encodeHeader({ id: "s", createdAt: 1 }), ...upTo(10_000).map(entry)]);
  it("is opened with two reads", async () => {
    const file = new MemoryFile(log);
    await readHeader({ handle: file, path: "a file" }, { id: "s", size: log.length });
    const tail = await readTail({ handle: file, path: "a file" }, log.length);
    assert.deepEqual([tail.last?.seq, tail.nextSeq, tail.end], [9999, 10_000, log.length]);
    assert.equal(file.bytesRead, 2 * 16 * 1024);
  });

  it("is read from any entry in either direction, without the entries before it", async () => {
    for (const from of [0, 1, 6, 7, 8, 4999, 5007, 9998, 9999, 10_000]) {
      for (const reverse of [false, true]) {
        const file = new MemoryFile(log);
        file.readLimit = 600 * 1024;
        const seen: number[] = [];
        for await (const batch of readEntries(
          { handle: file, path: "a file" },
          { from, reverse },
        )) {
          seen.push(...seqs(batch));
          if (seen.length >= 30) break;
        }
        const count = Math.min(30, seen.length);
        const expected = upTo(count).map((step) =>
          reverse ? Math.min(from, 9999) - step : from + step,
        );
        assert.deepEqual(seen.slice(0, count), expected, `from ${from}`);
        assert.ok(count === 30 || [0, 1, 6, 7, 8, 9998, 9999, 10_000].includes(from));
        assert.ok(
          file.bytesRead < file.readLimit,
          `${file.bytesRead} bytes were read from ${from}`,
        );
      }
    }
  });
});
