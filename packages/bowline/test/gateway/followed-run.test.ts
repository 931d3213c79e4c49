/** The events of a followed run, for a reader that is slower or faster than the run. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { FollowedRun } from "../../src/gateway/client/followed-run.ts";
import type { EventFrame } from "../../src/gateway/protocol/frame.ts";
import { within } from "../../../../test/support/within.ts";
import { seq } from "./scripted-server.ts";

const user = seq("chat.user", 0, { text: "Hi" });
const delta = seq("chat.delta", 1, { turn: 0, text: "Hello." });
const final = seq("chat.final", 2, { usage: {}, stopReason: "stop" });

/** A run, and a function that passes events to it. */
function followed(): {
  readonly run: FollowedRun;
  readonly hear: (...events: readonly object[]) => void;
} {
  const listeners = new Set<(frame: EventFrame) => void>();
  const source = {
    onEvent: (listener: (frame: EventFrame) => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    onState: () => () => {},
    onUnknown: () => () => {},
    request: () => Promise.resolve({}),
  };
  const hear = (...events: readonly object[]): void => {
    for (const event of events) for (const listener of listeners) listener(event as EventFrame);
  };
  return { run: new FollowedRun(source, "run", "s"), hear };
}

/** Reads the run's events to the end. `handle` runs for each event, before the next is read. */
async function namesOf(
  run: FollowedRun,
  handle: (event: string) => void = () => {},
): Promise<string[]> {
  const names: string[] = [];
  const reading = async (): Promise<void> => {
    for await (const { event } of run) {
      names.push(event);
      handle(event);
    }
  };
  await within("the events end", reading());
  return names;
}

const all = ["chat.user", "chat.delta", "chat.final"];

describe("the events of a followed run", () => {
  it("end with the run, for a reader that begins after its end", async () => {
    const { run, hear } = followed();
    hear(user, delta, final);
    assert.deepEqual(await namesOf(run), all);
    assert.deepEqual(await namesOf(run), []);
  });

  it("reach a reader that waits for each of them", async () => {
    const { run, hear } = followed();
    const reading = namesOf(run);
    for (const event of [user, delta, final]) {
      await new Promise((resolve) => setImmediate(resolve));
      hear(event);
    }
    assert.deepEqual(await reading, all);
  });

  it("include those that arrive while the reader handles an earlier one", async () => {
    const { run, hear } = followed();
    hear(user);
    const reading = namesOf(run, (event) => {
      if (event === "chat.user") hear(delta, final);
    });
    assert.deepEqual(await reading, all);
  });

  it("end without an outcome at a snapshot of an interrupted run", async () => {
    const { run, hear } = followed();
    hear(user, seq("chat.snapshot", 1, { state: "running", blocks: [] }));
    assert.equal(run.isOver, false);
    hear(seq("chat.snapshot", 1, { state: "interrupted", blocks: [] }), delta);
    assert.equal(run.isOver, true);
    assert.deepEqual(await namesOf(run), ["chat.user", "chat.snapshot", "chat.snapshot"]);
    await assert.rejects(within("it has no outcome", run.result()), { code: "not_found" });
  });

  it("end without an outcome when the run is ended otherwise", async () => {
    const { run, hear } = followed();
    hear(user);
    const reading = namesOf(run);
    await new Promise((resolve) => setImmediate(resolve));
    run.end();
    hear(delta);
    assert.deepEqual(await reading, ["chat.user"]);
    await assert.rejects(within("it has no outcome", run.result()), { code: "not_found" });
  });
});
