/** Details of karl's runner: the waits between attempts, and the pieces of an answer. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { runTask, type TaskEvent, type TaskOptions } from "../../src/karl/index.ts";
import { BowlineError } from "@bowline/core";
import { createScriptedModel } from "@bowline/core/testing";
import { ManualClock } from "../../../../test/support/manual-clock.ts";

/** The waits of a task with an overloaded model, in milliseconds. */
async function waits(
  retry: TaskOptions["retry"] & object,
  retryAfterMs?: number,
): Promise<number[]> {
  const about = { retryable: true, ...(retryAfterMs !== undefined && { retryAfterMs }) };
  const error = new BowlineError("overloaded", "Overloaded", about);
  const { streamFn } = createScriptedModel(Array.from({ length: 9 }, () => ({ error })));
  const clock = new ManualClock();
  const told: number[] = [];
  const task = runTask({
    task: "Go",
    model: "m",
    baseUrl: "",
    apiKey: "",
    providerType: "openai",
    streamFn,
    clock,
    retry,
    onEvent: (event) => void (event.type === "task_retry" && told.push(event.delayMs)),
  });
  await clock.advance(1_000_000);
  assert.equal((await task).status, "error");
  return told;
}

// Requirements: K6
it("karl's attempts wait a second, then twice as long each time, and at most a minute", async () => {
  assert.deepEqual(
    await waits({ attempts: 9 }),
    [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000],
  );
  assert.deepEqual(await waits({ attempts: 4, delayMs: 10, maxDelayMs: 30 }), [10, 20, 30]);
  assert.deepEqual(await waits({ attempts: 1 }), []);
});

// Requirements: K6
it("karl's attempts wait as long as the server says, and end when that exceeds the limit", async () => {
  assert.deepEqual(await waits({ attempts: 3 }, 60_000), [60_000, 60_000]);
  assert.deepEqual(await waits({ attempts: 3 }, 60_001), []);
});

// Requirements: K6, K57
it("karl's runner reports each piece of an answer as it arrives", async () => {
  const { streamFn } = createScriptedModel(["In pieces."], { deltaLength: 4 });
  const pieces: string[] = [];
  const onEvent = (event: TaskEvent): void =>
    void (event.type === "thinking" && pieces.push(event.delta));
  await runTask({
    task: "Go",
    model: "m",
    baseUrl: "",
    apiKey: "",
    providerType: "openai",
    streamFn,
    onEvent,
  });
  assert.deepEqual(pieces, ["In p", "iece", "s."]);
});
