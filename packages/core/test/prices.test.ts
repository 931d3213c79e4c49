import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { calcPrice } from "@pydantic/genai-prices";
import { costOf } from "../src/llm/usage.ts";
import { withPrices as withCustomPrices, type CalcPrice } from "../src/custom-prices.ts";
import { withPrices } from "../src/prices.ts";
import { getModel } from "../src/providers/vendors.ts";

const close = (a: number, b: number): void => assert.ok(Math.abs(a - b) < 1e-9, `${a} is not ${b}`);

describe("withPrices()", () => {
  it("uses the library's prices, including cached tokens", () => {
    for (const [provider, id] of [
      ["anthropic", "claude-sonnet-4-5"],
      ["openai", "gpt-5-mini"],
      ["google", "gemini-2.5-flash"],
    ] as const) {
      const model = withPrices(getModel(provider, id));
      assert.ok(model.cost !== undefined, id);
      const ours = costOf({ input: 1000, output: 200, cacheRead: 3000 }, model.cost)?.total ?? 0;
      const usage = { input_tokens: 4000, output_tokens: 200, cache_read_tokens: 3000 };
      close(ours, calcPrice(usage, id, { providerId: provider })?.total_price ?? -1);
    }
  });

  it("leaves an unknown model unchanged", () => {
    assert.deepEqual(withPrices(getModel("ollama", "my-own")), getModel("ollama", "my-own"));
  });

  it("keeps prices given by the caller", () => {
    const own = getModel("openai", "gpt-5-mini", {
      cost: { input: 1, output: 2 },
      contextWindow: 5,
    });
    assert.deepEqual(
      [withPrices(own).cost, withPrices(own).contextWindow],
      [{ input: 1, output: 2 }, 5],
    );
  });

  it("can use the caller's function, with the library's vendor id", () => {
    const asked: unknown[] = [];
    const own: CalcPrice = (usage, modelId, { providerId }) => {
      asked.push([modelId, providerId]);
      const [input, output] = [(usage.input_tokens ?? 0) / 1e6, (usage.output_tokens ?? 0) / 1e6];
      return { input_price: input, output_price: output, total_price: input, model: {} };
    };
    const model = withCustomPrices(getModel("xai", "grok-x"), own);
    assert.deepEqual(model.cost, { input: 1, output: 1, cacheRead: 1, cacheWrite: 1 });
    assert.deepEqual(asked[0], ["grok-x", "x-ai"]);
  });
});
