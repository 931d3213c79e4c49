/** The generator that a run waits for at every event. */
import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { describe, it } from "node:test";
import type { AgentEvent } from "@bowline/core/agent";
import { pullEvents, type StartRun } from "../src/pull-events.ts";
import { settle } from "../../../test/support/manual-clock.ts";

const event = (seq: number): AgentEvent => ({ type: "turn_start", runId: "r", seq });

interface Rig {
  readonly start: StartRun;
  /** The steps of the run, in order. */
  readonly log: string[];
}

/** A run of two events that ends with `end`. */
function rig(end: () => Promise<void> = async () => {}): Rig {
  const log: string[] = [];
  const start: StartRun = async (emit, signal) => {
    for (const seq of [1, 2]) {
      log.push(`emits ${seq}`);
      await emit(event(seq));
      log.push(signal.aborted ? "is aborted" : `goes on after ${seq}`);
    }
    await end();
    log.push("is over");
  };
  return { start, log };
}

describe("pullEvents", () => {
  it("starts the run with the first next()", async () => {
    const { start, log } = rig();
    const events = pullEvents(start);
    await settle();
    assert.deepEqual(log, []);
    await events.next();
    assert.deepEqual(log, ["emits 1"]);
    await events.return();
  });

  it("resumes the run when the reader asks for the next event", async () => {
    const { start, log } = rig();
    const events = pullEvents(start);
    assert.deepEqual(await events.next(), { done: false, value: event(1) });
    await settle();
    assert.deepEqual(log, ["emits 1"]);
    assert.deepEqual(await events.next(), { done: false, value: event(2) });
    await settle();
    assert.deepEqual(log.slice(1), ["goes on after 1", "emits 2"]);
    assert.deepEqual(await events.next(), { done: true, value: undefined });
    assert.deepEqual(log.slice(3), ["goes on after 2", "is over"]);
  });

  it("aborts the run when the reader leaves, and waits for its end", async () => {
    const { start, log } = rig();
    for await (const _ of pullEvents(start)) break;
    await settle();
    assert.deepEqual(log, ["emits 1", "is aborted", "emits 2", "is aborted", "is over"]);
  });

  it("throws the error that the run rejects with", async () => {
    const { start } = rig(() => Promise.reject(new Error("no")));
    const read = async (): Promise<void> => {
      for await (const _ of pullEvents(start));
    };
    await assert.rejects(read(), { message: "no" });
  });

  it("leaves no unhandled rejection when the run fails after the reader left", async () => {
    const { start, log } = rig(() => Promise.reject(new Error("no")));
    for await (const _ of pullEvents(start)) break;
    await settle(); // the test runner fails a test for an unhandled rejection
    assert.equal(log.at(-1), "is aborted");
  });

  it("passes on the caller's abort and its reason, also before the start", async () => {
    const abort = new AbortController();
    const reasons: unknown[] = [];
    const start: StartRun = async (emit, signal) => {
      await emit(event(1));
      reasons.push(signal.reason);
    };
    for await (const _ of pullEvents(start, abort.signal)) abort.abort("late");
    for await (const _ of pullEvents(start, AbortSignal.abort("early")));
    assert.deepEqual(reasons, ["late", "early"]);
  });

  it("yields the remaining events of a run that does not stop on abort", async () => {
    const abort = new AbortController();
    const start: StartRun = async (emit) => {
      await emit(event(1));
      void emit(event(2));
      void emit(event(3));
    };
    const seen: number[] = [];
    for await (const { seq } of pullEvents(start, abort.signal)) {
      abort.abort();
      seen.push(seq);
    }
    assert.deepEqual(seen, [1, 2, 3]);
  });

  it("leaves no listener on the caller's signal", async () => {
    const { signal } = new AbortController();
    for await (const _ of pullEvents(rig().start, signal));
    for await (const _ of pullEvents(rig().start, signal)) break;
    assert.equal(getEventListeners(signal, "abort").length, 0);
  });
});
