/**
 * Measures the overhead of the loop and the agent per delta, per turn and per tool. The model
 * answers at once.
 */
import { bench, do_not_optimize, group } from "mitata";
import { Agent, defineTool } from "../packages/core/src/agent/index.ts";
import {
  createScriptedModel,
  scriptedToolCall,
  type ScriptedStep,
} from "../packages/core/src/testing/index.ts";

const noop = defineTool({
  name: "noop",
  description: "Nothing",
  parameters: { type: "object", properties: {} },
  execute: () => "ok",
});

async function run(steps: readonly ScriptedStep[], deltaLength: number): Promise<number> {
  const script = createScriptedModel(steps, { deltaLength });
  const agent = new Agent({
    initialState: { model: script.model, tools: [noop] },
    streamFn: script.streamFn,
  });
  let events = 0;
  agent.subscribe(() => void events++);
  const { reason } = await agent.prompt("Go");
  if (reason !== "done") throw new Error(`the run ended with ${reason}`);
  return events;
}

group("the agent with one subscriber and a scripted stream", () => {
  const text = "x".repeat(10_000);
  bench("one answer of 10,000 deltas", async () => do_not_optimize(await run([text], 1)));
  const turns = [
    ...Array.from({ length: 100 }, (_, i) => ({
      content: [scriptedToolCall("noop", {}, `call_${i}`)],
    })),
    "Done.",
  ];
  bench("100 turns of one tool each", async () => do_not_optimize(await run(turns, 100)));
  const wide = {
    content: Array.from({ length: 100 }, (_, i) => scriptedToolCall("noop", {}, `call_${i}`)),
  };
  bench("one turn of 100 parallel tools", async () =>
    do_not_optimize(await run([wide, "Done."], 100)));
});
