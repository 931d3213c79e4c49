/** One reader of an event log, in a fixed order of writing and reading. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { within } from "../../../../../test/support/within.ts";
import { EventLog } from "../../../src/agent/stream/event-log.ts";

type Batches = AsyncGenerator<readonly string[], void>;

const nextOf = (reader: Batches): ReturnType<Batches["next"]> =>
  within("the next events or the end", reader.next());

it("gives a reader each event once, also while it waits, and ends", async () => {
  const log = new EventLog<string>(2);
  const reader = log.batches();
  log.push("a");
  log.push("b");
  assert.deepEqual(await nextOf(reader), { done: false, value: ["a", "b"] });
  const waiting = nextOf(reader);
  log.push("c");
  assert.deepEqual(await waiting, { done: false, value: ["c"] });
  const last = nextOf(reader);
  log.end();
  assert.deepEqual(await last, { done: true, value: undefined });
});

it("rejects a reader with the failure, or with reader_too_slow and the event that it missed", async () => {
  const log = new EventLog<string>(2);
  const reader = log.batches();
  log.push("a");
  assert.deepEqual((await nextOf(reader)).value, ["a"]);
  for (const event of ["b", "c", "d"]) log.push(event);
  await assert.rejects(nextOf(reader), {
    code: "reader_too_slow",
    message: /more than 2 events behind, and event 1 was evicted/,
  });
  const failed = new EventLog<string>(2);
  failed.push("a");
  failed.fail(new Error("lost"));
  const other = failed.batches();
  assert.deepEqual((await nextOf(other)).value, ["a"]);
  await assert.rejects(nextOf(other), /lost/);
});
