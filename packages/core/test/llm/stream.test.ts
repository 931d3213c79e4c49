import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { describe, it } from "node:test";
import { EventStream } from "../../src/llm/stream.ts";
import { MessageWriter } from "../../src/llm/writer.ts";
import { deferred } from "../../../../test/support/deferred.ts";
import { settle } from "../../../../test/support/manual-clock.ts";
import { within } from "../../../../test/support/within.ts";

describe("EventStream", () => {
  it("ends the reading when the producer ends while its reader waits", async () => {
    const isOver = deferred();
    const stream = new EventStream<number, string>(async () => {
      await isOver.promise;
      return "over";
    });
    const next = stream[Symbol.asyncIterator]().next();
    await settle();
    isOver.resolve();
    assert.equal((await within("the reading ends", next)).done, true);
  });

  it("leaves no listener on the caller's signal when it has ended", async () => {
    const { signal } = new AbortController();
    const stream = new EventStream<number, string>(async (push) => {
      push([1]);
      assert.equal(getEventListeners(signal, "abort").length, 1);
      return "over";
    }, signal);
    assert.equal(await stream.result(), "over");
    assert.equal(getEventListeners(signal, "abort").length, 0);
    const broken = new EventStream<number, string>(() => Promise.reject(new Error("no")), signal);
    await assert.rejects(broken.result(), /no/);
    assert.equal(getEventListeners(signal, "abort").length, 0);
  });

  it("aborts the producer when its reader leaves, but not after the last batch", async () => {
    for (const isLast of [false, true]) {
      const isOver = deferred();
      let aborted: boolean | undefined;
      const stream = new EventStream<number, string>(async (push, signal) => {
        push([1], isLast);
        await isOver.promise;
        aborted = signal.aborted;
        return "over";
      });
      for await (const _ of stream) break;
      await settle();
      isOver.resolve();
      await stream.result();
      assert.equal(aborted, !isLast);
    }
  });

  it("aborts a silent producer at once, even while its reader waits for the next event", async () => {
    for (const kind of ["events", "batches"] as const) {
      let given: AbortSignal | undefined;
      const stream = new EventStream<number, string>(
        (_push, signal) =>
          new Promise((resolve) => {
            given = signal;
            signal.addEventListener("abort", () => resolve("over"));
          }),
      );
      const reader = kind === "events" ? stream[Symbol.asyncIterator]() : stream.batches();
      const next = reader.next();
      await settle();
      const left = reader.return();
      assert.equal(given?.aborted, true);
      await Promise.all([next, left]);
    }
  });

  it("gives each batch once, also those that arrive while its reader is busy", async () => {
    const stream = new EventStream<number, string>(async (push) => {
      push([1, 2]);
      push([]);
      await settle();
      push([3]);
      push([4], true);
      return "over";
    });
    const seen: (readonly number[])[] = [];
    for await (const batch of stream.batches()) {
      if (seen.push(batch) > 3) break;
      await settle();
    }
    assert.deepEqual(seen, [[1, 2], [3], [4]]);
  });

  it("aborts nothing when its reader leaves after it has ended", async () => {
    let given: AbortSignal | undefined;
    const stream = new EventStream<number, string>(async (push, signal) => {
      given = signal;
      push([1]);
      return "over";
    });
    await stream.result();
    for await (const _ of stream) break;
    assert.equal(given?.aborted, false);
  });
});

describe("MessageWriter", () => {
  const origin = { api: "a", provider: "p", model: "m", timestamp: 1 };

  it("writes half a surrogate pair if its part is closed before the other half arrives", () => {
    const writer = new MessageWriter(origin);
    const index = writer.openText();
    writer.append(index, "a\ud83d");
    writer.close(index);
    const deltas = writer
      .take()
      .flatMap((event) => (event.type === "text_delta" ? [event.delta] : []));
    assert.deepEqual(deltas, ["a", "\ud83d"]);
    assert.deepEqual(writer.message.content, [{ type: "text", text: "a\ud83d" }]);
  });

  it("drops deltas for a closed part", () => {
    const writer = new MessageWriter(origin);
    const index = writer.openText();
    writer.append(index, "Hello");
    writer.close(index);
    writer.take();
    writer.append(index, " there");
    writer.close(index);
    assert.deepEqual(writer.take(), []);
    assert.deepEqual(writer.message.content, [{ type: "text", text: "Hello" }]);
  });
});
