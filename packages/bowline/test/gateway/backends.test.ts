import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createBackends } from "../../src/models/backends.ts";
import { discoverModel } from "../../src/models/discover.ts";

it("the runs of a model share one model object, which remembers what its server refuses", async () => {
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

describe("an agent whose chosen model has no key", () => {
  const agent = { id: "a", model: "openai/m" };

  it("uses no other model, whatever keys, servers and variables exist", async () => {
    const keyed = { GROQ_API_KEY: "g", ANTHROPIC_API_KEY: "a" };
    for (const own of [{}, { BOWLINE_MODEL: "groq/named" }, { BOWLINE_DISCOVERY: "off" }]) {
      const backends = createBackends({ env: { ...keyed, ...own } });
      await assert.rejects(backends.for(agent), {
        code: "invalid_argument",
        message:
          "openai/m has no key (OPENAI_API_KEY is not set). Set it, or pass another model with --fallback.",
      });
      await backends.close();
    }
  });

  it("uses the configured fallback, with a notice", async () => {
    const backends = createBackends({ env: { GROQ_API_KEY: "g" }, fallback: "groq/x" });
    const { model, notice } = await backends.for(agent);
    assert.deepEqual([model.provider, model.id, notice?.code], ["groq", "x", "fallback_model"]);
    await backends.close();
  });
});

describe("an agent whose default model has no key", () => {
  const agent = { id: "a", model: "openai/m", isPreset: true };
  const keyed = { GROQ_API_KEY: "g" };

  it("uses the model that bowline run would choose, with a notice that names it", async () => {
    for (const env of [keyed, { ...keyed, BOWLINE_MODEL: "groq/named" }]) {
      const backends = createBackends({ env });
      const run = await discoverModel({}, env);
      const { model, apiKey, keyVariable, isPractice, notice } = await backends.for(agent);
      assert.equal(`${model.provider}/${model.id}`, `${run.model.provider}/${run.model.id}`);
      assert.deepEqual([apiKey, keyVariable, isPractice], ["g", "GROQ_API_KEY", false]);
      assert.deepEqual(notice, {
        code: "fallback_model",
        message: `openai/m has no key (OPENAI_API_KEY is not set). ${run.why} answers instead.`,
      });
      assert.equal((await backends.for(agent)).model, model);
      await backends.close();
    }
  });

  it("uses the practice model when discovery is off, or when it is named", async () => {
    for (const own of [{ BOWLINE_DISCOVERY: "off" }, { BOWLINE_MODEL: "practice" }]) {
      const backends = createBackends({ env: { ...keyed, ...own } });
      const { isPractice, notice } = await backends.for(agent);
      assert.deepEqual([isPractice, notice?.code], [true, "practice_model"]);
      await backends.close();
    }
  });

  it("reports what is wrong with BOWLINE_MODEL", async () => {
    const backends = createBackends({ env: { BOWLINE_MODEL: "acme/x" } });
    await assert.rejects(backends.for(agent), {
      code: "invalid_argument",
      message: /Unknown provider "acme"/,
    });
    await backends.close();
  });
});
