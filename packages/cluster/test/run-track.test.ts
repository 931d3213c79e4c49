/** The rules by which a gateway passes on the events of one run. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { RunTrack } from "../src/relay/run-track.ts";
import type { AnsweredRun, LiveEvent } from "../src/wire/messages.ts";

const event = (seq: number, attempt = 1, name: LiveEvent["event"] = "chat.delta"): LiveEvent => ({
  runId: "r",
  attempt,
  seq,
  event: name,
  frame: { json: "{}" },
});
const snapshot = (seq: number, attempt = 1): LiveEvent => event(seq, attempt, "chat.snapshot");
const seqs = (events: readonly LiveEvent[]): number[] => events.map(({ seq }) => seq);
const answer = (frames: readonly LiveEvent[], seq: number, attempt = 1): AnsweredRun => ({
  runId: "r",
  attempt,
  state: "running",
  seq,
  frames,
});

describe("a gateway's track of a run", () => {
  it("passes on each number once, and what follows a gap when the gap is filled", () => {
    const track = new RunTrack("r");
    assert.deepEqual(seqs(track.take(event(0))), [0]);
    assert.deepEqual(seqs(track.take(event(0))), []);
    assert.deepEqual(seqs(track.take(event(3))), []);
    assert.deepEqual(seqs(track.take(event(2))), []);
    assert.equal(track.isLacking, true);
    assert.deepEqual(seqs(track.take(event(1))), [1, 2, 3]);
    assert.equal(track.isLacking, false);
  });

  it("begins only with the first event of a run, a snapshot or an answer", () => {
    const middle = new RunTrack("r");
    assert.deepEqual(seqs(middle.take(event(5))), []);
    assert.equal(middle.isLacking, true);
    assert.deepEqual(seqs(middle.absorb(answer([snapshot(4)], 4))), [4, 5]);
    const taken = new RunTrack("r");
    assert.deepEqual(seqs(taken.take(snapshot(9))), [9]);
    const withdrawn = new RunTrack("r");
    withdrawn.withdraw();
    assert.deepEqual(seqs(withdrawn.take(event(0))), []);
  });

  it("needs a snapshot after a withdrawal, also if a worker has nothing new for another client", () => {
    const track = new RunTrack("r");
    track.take(event(0));
    track.withdraw();
    assert.deepEqual(seqs(track.absorb(answer([], 20))), []);
    assert.deepEqual(seqs(track.take(event(21))), []);
    assert.equal(track.isLacking, true);
    assert.deepEqual(seqs(track.absorb(answer([snapshot(20)], 20))), [20, 21]);
  });

  it("drops what a lower attempt says, also when it waits for a snapshot of the higher one", () => {
    const track = new RunTrack("r");
    track.take(event(0));
    track.withdraw();
    track.note({ runId: "r", attempt: 2, seq: 20 });
    assert.deepEqual(seqs(track.take(snapshot(1))), []);
    assert.deepEqual(seqs(track.absorb(answer([snapshot(1)], 1))), []);
    assert.deepEqual(seqs(track.take(snapshot(20, 2))), [20]);
  });

  it("passes on an end only when it is confirmed, and nothing after it", () => {
    const track = new RunTrack("r");
    track.take(event(0));
    assert.deepEqual(seqs(track.take(event(1, 1, "chat.final"))), []);
    assert.equal(track.isEnding, true);
    assert.deepEqual(seqs(track.confirm()), [1]);
    assert.deepEqual(seqs(track.confirm()), []);
    for (const late of [event(2), snapshot(30, 3), event(2, 1, "chat.error")])
      assert.deepEqual(seqs(track.take(late)), []);
    assert.equal(track.isLacking, false);
  });

  it("forgets the end of an attempt that another one took over", () => {
    const track = new RunTrack("r");
    track.take(event(0));
    track.take(event(1, 1, "chat.error"));
    assert.deepEqual(seqs(track.take(snapshot(20, 2))), [20]);
    assert.equal(track.isEnding, false);
    assert.deepEqual(seqs(track.confirm()), []);
  });

  it("holds a bounded number of events, and then needs a snapshot", () => {
    const track = new RunTrack("r");
    track.take(event(0));
    for (let seq = 2; seq < 2003; seq++) track.take(event(seq));
    assert.equal(track.position, undefined);
    assert.deepEqual(seqs(track.absorb(answer([snapshot(2002)], 2002))), [2002]);
    assert.deepEqual(seqs(track.take(event(2003))), [2003]);
  });
});
