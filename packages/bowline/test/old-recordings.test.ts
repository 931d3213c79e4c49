/** Recordings of earlier versions, which contain no retry time. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "node:test";
import { getModel } from "@bowline/core";
import { saveRunRecording } from "../src/record/file.ts";
import { recordRun } from "../src/record/record-run.ts";
import { createAgent, type RunSetup } from "../src/record/run-setup.ts";
import { chatText, failing, loopback, type Handler } from "../../../test/support/loopback.ts";
import { bowline, temporary } from "./command.ts";

const down = failing(500, { error: { message: "down" } }, { "retry-after": "0" });

/** Records a run as versions before `retryMs` did, and replays it. */
async function played(...handlers: readonly Handler[]): Promise<{
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly asked: number;
}> {
  await using folder = await temporary();
  await using server = await loopback(...handlers);
  const setup: RunSetup = {
    task: "Say hello.",
    images: [],
    systemPrompt: "Be brief.",
    model: getModel("custom", "m", { baseUrl: server.baseUrl }),
    thinking: "off",
    budget: { maxTimeMs: 30_000 }, // a run that retries endlessly would never be recorded
  };
  const recorder = recordRun(setup, { tools: [], beforeToolCall: async () => undefined }, []);
  await createAgent(setup, recorder.ports).prompt(setup.task);
  const file = join(folder.path, "run.json");
  const content = recorder.content();
  assert.equal("retryMs" in content.setup, false);
  saveRunRecording(file, content);
  return { ...(await bowline(["replay", file])), asked: server.requests.length };
}

describe("a recording without a time for retries", () => {
  it("is replayed", async () => {
    const { code, stdout, stderr } = await played(chatText("Hello."));
    assert.deepEqual([code, stdout], [0, "Hello.\n"], stderr);
  });

  it("gives up after as many attempts as the recorded run made", async () => {
    const { code, stderr, asked } = await played(down);
    assert.deepEqual([code, asked], [1, 3]);
    assert.match(stderr, /Retrying\.\n[^]*down/);
    assert.doesNotMatch(stderr, /cannot be replayed|undefined|NaN/);
  });
});
