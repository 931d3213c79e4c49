import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { writeSummary, type SummaryResult } from "../../../src/agent/context/summary.ts";
import type { Clock } from "../../../src/clock.ts";
import { BowlineError } from "../../../src/errors.ts";
import type { StreamFn } from "../../../src/llm/model.ts";
import {
  createScriptedModel,
  scriptedToolCall,
  type ScriptedStep,
} from "../../../src/testing/index.ts";
import { within } from "../../../../../test/support/within.ts";
import { hello } from "../../support.ts";

/** A wait function that returns at once and records the requested delays. */
function hasty(): { clock: Clock; waits: number[] } {
  const waits: number[] = [];
  const setTimer: Clock["setTimer"] = (ms, fire) => {
    waits.push(ms);
    const timer = setImmediate(fire);
    return () => clearImmediate(timer);
  };
  return { clock: { now: () => 0, setTimer }, waits };
}

interface Outcome extends SummaryResult {
  readonly asked: number;
  readonly waits: readonly number[];
}

async function summarise(
  steps: readonly ScriptedStep[],
  instead?: () => ReturnType<StreamFn>,
): Promise<Outcome> {
  const script = createScriptedModel(steps, { deltaLength: 1000 });
  const { clock, waits } = hasty();
  let asked = 0;
  const streamFn: StreamFn = (...given) => {
    asked++;
    return instead?.() ?? script.streamFn(...given);
  };
  const by = { model: script.model, streamFn, options: { clock, random: () => 1 } };
  const writing = writeSummary({
    by,
    previous: "",
    older: [hello],
    instruction: "Write a summary.",
    maxInputTokens: 1000,
    maxTokens: 100,
    signal: undefined,
    graceMs: 5000,
  });
  return { ...(await within("the summary is written or given up", writing)), asked, waits };
}

const fails = (retryAfterMs?: number): ScriptedStep => ({
  error: new BowlineError("overloaded", "Too many.", {
    retryable: true,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  }),
});

describe("a summary", () => {
  it("is tried three times with backoff when that may help", async () => {
    const { summary, asked, waits } = await summarise([fails(), fails(), "So far."]);
    assert.deepEqual([summary, asked, waits], ["So far.", 3, [1000, 2000]]);
    const failed = await summarise([fails(), fails(), fails(), "never"]);
    assert.deepEqual([failed.error?.code, failed.asked], ["overloaded", 3]);
  });

  it("waits as long as the server asks, up to a minute", async () => {
    assert.deepEqual((await summarise([fails(60_000), "So far."])).waits, [60_000]);
    const { error, asked } = await summarise([fails(60_001), "never"]);
    assert.deepEqual([error?.code, asked], ["overloaded", 1]);
  });

  it("is not retried when that would not help", async () => {
    const error = new BowlineError("authentication_failed", "No.");
    const failed = await summarise([{ error }, "never"]);
    assert.deepEqual([failed.error?.code, failed.asked], ["authentication_failed", 1]);
  });

  it("is tried again when the answer is empty, and the error says so", async () => {
    const empty: ScriptedStep = { content: [{ type: "text", text: " \n" }] };
    const { summary, waits } = await summarise([empty, "So far."]);
    assert.deepEqual([summary, waits], ["So far.", [1000]]);
    const { error, asked } = await summarise([empty, empty, empty, "never"]);
    assert.deepEqual(
      [error?.code, error?.message, asked],
      ["empty_response", "The summary is empty.", 3],
    );
  });

  it("is not retried when the answer calls a tool, even beside a text", async () => {
    const calls: ScriptedStep = {
      content: [{ type: "text", text: "So far." }, scriptedToolCall("look", {})],
    };
    const { error, asked } = await summarise([calls, "never"]);
    assert.deepEqual(
      [error?.code, error?.message, asked],
      ["empty_response", "The summary calls a tool.", 1],
    );
  });

  it("is not retried when the stream function throws", async () => {
    const { error, asked } = await summarise([], () => assert.fail("a fault of its own"));
    assert.deepEqual([error?.code, asked], ["stream_function_failed", 1]);
  });
});
