/** Follows a file without change notifications by polling: never torn, never twice. */
import assert from "node:assert/strict";
import type { Stats } from "node:fs";
import { appendFile, open, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { AnyEntry } from "../../../src/session/index.ts";
import { followLog } from "../../../src/session/node/follow-log.ts";
import { encodeEntry, encodeHeader } from "../../../src/session/node/record.ts";
import { MemoryFile, seqs, temporaryFolder, upTo } from "../support.ts";
import { ManualClock, settle } from "../../../../../test/support/manual-clock.ts";
import { within } from "../../../../../test/support/within.ts";

const POLL_MS = 100;

const line = (seq: number, id = `e${seq}`): Buffer =>
  encodeEntry({ seq, id, parentId: null, timestamp: 1, type: "message" });

/** A follower, and the entries it received. */
function follow(file: MemoryFile, from?: number) {
  const clock = new ManualClock();
  const stop = new AbortController();
  const seen: AnyEntry[] = [];
  const run = async (): Promise<void> => {
    // A path that does not exist cannot be watched.
    const options = { from, clock, pollMs: POLL_MS, signal: stop.signal };
    for await (const batch of followLog({ handle: file, path: "/nowhere/at all" }, options))
      seen.push(...batch);
  };
  return { clock, stop, seen, ended: within("the end of the follower", run()) };
}

describe("a follower of a file that cannot be watched", () => {
  it("gets existing entries at once, and new ones within one poll", async () => {
    const file = new MemoryFile(
      Buffer.concat([encodeHeader({ id: "s", createdAt: 1 }), line(0), line(1)]),
    );
    const { clock, stop, seen, ended } = follow(file);
    await settle();
    assert.deepEqual(seqs(seen), [0, 1]);
    file.bytes = Buffer.concat([file.bytes, line(2)]);
    await clock.advance(POLL_MS - 1);
    assert.deepEqual(seqs(seen), [0, 1]);
    await clock.advance(1);
    assert.deepEqual(seqs(seen), [0, 1, 2]);
    stop.abort();
    await ended;
    assert.equal(clock.pending, 0);
  });

  it("never gets an incomplete line", async () => {
    const file = new MemoryFile();
    const { clock, stop, seen, ended } = follow(file);
    const whole = Buffer.concat(upTo(3).map((seq) => line(seq)));
    // No line's length is a multiple of this step, so that steps end inside lines.
    assert.notEqual(line(0).length % 8, 0);
    for (let length = 0; length <= whole.length; length += 8) {
      file.bytes = whole.subarray(0, length);
      await clock.advance(POLL_MS);
      assert.equal(seen.length, file.bytes.filter((byte) => byte === 10).length);
    }
    file.bytes = whole;
    await clock.advance(POLL_MS);
    assert.deepEqual(seqs(seen), upTo(3));
    stop.abort();
    await ended;
  });

  it("begins at the given entry, even if it is not written yet", async () => {
    const file = new MemoryFile(Buffer.concat([line(0), line(1)]));
    const { clock, stop, seen, ended } = follow(file, 3);
    for (const seq of [2, 3, 4]) {
      file.bytes = Buffer.concat([file.bytes, line(seq)]);
      await clock.advance(POLL_MS);
    }
    assert.deepEqual(seqs(seen), [3, 4]);
    stop.abort();
    await ended;
  });

  it("continues after a write was rolled back", async () => {
    const kept = Buffer.concat([line(0), line(1)]);
    const file = new MemoryFile(
      Buffer.concat([kept, line(2, "taken back"), line(3, "taken back")]),
    );
    const { clock, stop, seen, ended } = follow(file, 2);
    await settle();
    assert.deepEqual(seqs(seen), [2, 3]);
    file.bytes = kept;
    await clock.advance(POLL_MS);
    file.bytes = Buffer.concat([kept, line(2), line(3), line(4)]);
    await clock.advance(POLL_MS);
    assert.deepEqual(seqs(seen), [2, 3, 4]);
    stop.abort();
    await ended;
  });
});

describe("a follower of a file that is watched", () => {
  it("polls again when a write happened during the poll", { timeout: 60_000 }, async (t) => {
    if (process.platform !== "linux") return t.skip("how soon the system tells differs");
    await using folder = await temporaryFolder();
    const path = join(folder.path, "log.jsonl");
    await writeFile(path, line(0));
    const handle = await open(path, "r");
    let looks = 0;
    const stat = async (): Promise<Stats> => {
      const before = await handle.stat();
      if (looks++ > 0) return before;
      await appendFile(path, line(1));
      await new Promise((resolve) => setTimeout(resolve, 50)); // time for the change notification
      return before;
    };
    const file = { path, handle: { stat, read: handle.read.bind(handle) } };
    const seen: AnyEntry[] = [];
    // The clock does not move, so there is no polling.
    for await (const batch of followLog(file, { clock: new ManualClock(), pollMs: POLL_MS })) {
      if (seen.push(...batch) === 2) break;
    }
    assert.deepEqual(seqs(seen), [0, 1]);
    await handle.close();
  });
});
