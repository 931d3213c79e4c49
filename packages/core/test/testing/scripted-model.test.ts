import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createScriptedModel } from "../../src/testing/index.ts";

describe("a scripted model", () => {
  it("says its text in pieces of the given length", async () => {
    const { model, streamFn } = createScriptedModel(["Hello."], { deltaLength: 4 });
    const said: string[] = [];
    for await (const event of await streamFn(model, { messages: [] }, {}))
      if (event.type === "text_delta") said.push(event.delta);
    assert.deepEqual(said, ["Hell", "o."]);
  });

  it("refuses pieces of which it would never come to an end", () => {
    for (const deltaLength of [0, -1, Number.NaN])
      assert.throws(() => createScriptedModel(["Hello."], { deltaLength }), {
        code: "invalid_argument",
      });
  });
});
