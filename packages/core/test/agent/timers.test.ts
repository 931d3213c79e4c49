import assert from "node:assert/strict";
import { it } from "node:test";
import { Agent } from "../../src/agent/index.ts";
import { createScriptedModel } from "../../src/testing/index.ts";
import { call, tool } from "../support.ts";

it("a run that never waits still lets timers fire", async () => {
  const script = createScriptedModel([...Array.from({ length: 40 }, () => call("spin")), "Done."]);
  const spin = tool("spin", () => {
    const end = performance.now() + 5;
    while (performance.now() < end);
    return "1";
  });
  const agent = new Agent({
    initialState: { model: script.model, tools: [spin] },
    streamFn: script.streamFn,
  });
  let ticks = 0;
  const timer = setInterval(() => ticks++, 1);
  const run = await agent.prompt("Hi");
  clearInterval(timer);
  assert.equal(run.reason, "done");
  assert.ok(ticks >= 3, `${ticks} ticks in a run of 200 ms`);
});
