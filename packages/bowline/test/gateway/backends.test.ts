import assert from "node:assert/strict";
import { it } from "node:test";
import { createBackends } from "../../src/models/backends.ts";

it("the runs of a model share one model object, by which is known what its server refuses", async () => {
  const backends = createBackends({ env: { OPENAI_API_KEY: "sk-none-of-yours" } });
  const modelOf = async (model: string): Promise<object> =>
    (await backends.for({ id: "a", model, description: "" })).model;
  const [first, again, other] = await Promise.all(
    ["openai/gpt-5", "openai/gpt-5", "openai/gpt-5-mini"].map(modelOf),
  );
  assert.equal(first, again);
  assert.notEqual(first, other);
  await backends.close();
});
