/** The response of server-sent events by itself. Each test reads a bounded number of chunks. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { deferred } from "../../../../../test/support/deferred.ts";
import { ManualClock, settle } from "../../../../../test/support/manual-clock.ts";
import { within } from "../../../../../test/support/within.ts";
import { sseResponse } from "../../../src/agent/stream/sse-response.ts";

async function* batchesOf(
  ...batches: (readonly string[])[]
): AsyncGenerator<readonly string[], void> {
  yield* batches;
}

/** Reads at most `limit` chunks as text, and whether the response has ended by then. */
async function read(response: Response, limit: number): Promise<[string[], boolean]> {
  const reader = response.body?.getReader();
  assert.ok(reader);
  const chunks: string[] = [];
  while (chunks.length < limit) {
    const { done, value } = await within("the next chunk or the end", reader.read());
    if (done) return [chunks, true];
    chunks.push(new TextDecoder().decode(value));
  }
  return [chunks, false];
}

it("sends each batch once as one chunk, skips empty ones, and ends", async () => {
  const batches = batchesOf(["a", "b"], ["-"], ["c"]);
  const toFrames = (item: string): string => (item === "-" ? "" : `data: ${item}\n\n`);
  const response = sseResponse(batches, new ManualClock(), toFrames);
  assert.deepEqual(await read(response, 4), [["data: a\n\ndata: b\n\n", "data: c\n\n"], true]);
});

it("leaves no timer when it has ended", async () => {
  const clock = new ManualClock();
  await read(sseResponse(batchesOf(["a"]), clock, String), 2);
  assert.equal(clock.pending, 0);
});

it("reads the first batch at once, and with isLazy only when it is read", async () => {
  const formatted: string[] = [];
  const toFrames = (item: string): string => (formatted.push(item), item);
  const clock = new ManualClock();
  const eager = sseResponse(batchesOf(["eager"]), clock, toFrames);
  const lazy = sseResponse(batchesOf(["lazy"]), clock, toFrames, {}, { isLazy: true });
  await settle();
  assert.deepEqual(formatted, ["eager"]);
  await read(lazy, 1);
  assert.deepEqual(formatted, ["eager", "lazy"]);
  await eager.body?.cancel();
});

it("does not send what arrives while the client leaves", async () => {
  const next = deferred<IteratorResult<readonly string[], void>>();
  let isClosed = false;
  let hasLeft = false;
  const formatted: string[] = [];
  const batches = {
    next: () => next.promise,
    return: async () => ((isClosed = true), { done: true, value: undefined }),
  } as unknown as AsyncGenerator<readonly string[], void>;
  const clock = new ManualClock();
  const response = sseResponse(batches, clock, (item) => (formatted.push(item), item), undefined, {
    onCancel: () => (hasLeft = true),
  });
  await settle();
  next.resolve({ value: ["late"] });
  await response.body?.cancel();
  await settle();
  assert.deepEqual([formatted, isClosed, hasLeft, clock.pending], [[], true, true, 0]);
});
