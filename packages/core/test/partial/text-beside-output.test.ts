/** Text that a model writes beside its call of the output tool. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { Agent } from "../../src/index.ts";
import { partialOutput, type PartialOutputEvent } from "../../src/partial/index.ts";
import { createScriptedModel, scriptedToolCall } from "../../src/testing/index.ts";

const output = {
  type: "object",
  properties: { harbour: { type: "string" } },
  required: ["harbour"],
} as const;
const value = { harbour: "Horten" };

it("is ignored, before the call and after it", async () => {
  const text = { type: "text", text: '{"harbour":"Not this one"}' } as const;
  const called = scriptedToolCall("final_answer", value, "c");
  for (const content of [[called, text], [text, called], [called]]) {
    const { model, streamFn } = createScriptedModel([{ content }], { deltaLength: 4 });
    const own = { ...model, compat: { structuredOutput: "none" as const } };
    const run = new Agent({ model: own, streamFn }).stream("Where?", { output });
    const events: PartialOutputEvent[] = [];
    for await (const event of partialOutput(run)) events.push(event);
    const isOpen = content[0] === text;
    assert.deepEqual(
      events.filter(({ type }) => type === "partial_reset"),
      isOpen ? [{ type: "partial_reset", reason: "replaced" }] : [],
    );
    assert.deepEqual(events.at(-1), { type: "partial_end", reason: "done", output: value });
  }
});
