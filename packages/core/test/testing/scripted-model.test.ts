import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createScriptedModel } from "../../src/testing/index.ts";

describe("a scripted model", () => {
  it("emits its text in deltas of the given length", async () => {
    const { model, streamFn } = createScriptedModel(["Hello."], { deltaLength: 4 });
    const said: string[] = [];
    for await (const event of await streamFn(model, { messages: [] }, {}))
      if (event.type === "text_delta") said.push(event.delta);
    assert.deepEqual(said, ["Hell", "o."]);
  });

  it("refuses a delta length that would never end", () => {
    for (const deltaLength of [0, -1, Number.NaN])
      assert.throws(() => createScriptedModel(["Hello."], { deltaLength }), {
        code: "invalid_argument",
      });
  });
});
