/**
 * Prices and context windows from `@pydantic/genai-prices`, an optional peer dependency: install it
 * to use this entry. Prices change; what a server itself says it charged is kept and never
 * overwritten.
 */
import { calcPrice } from "@pydantic/genai-prices";
import type { Model } from "./llm/model.ts";

/** Vendors whose name there differs from ours. */
const providerIds: Readonly<Record<string, string>> = {
  xai: "x-ai",
  moonshot: "moonshotai",
  zai: "z-ai",
};

/** Prices are asked for a prompt of a usual size: some vendors charge more for very long ones. */
const SAMPLE = 1000;
const PER_MILLION = 1_000_000 / SAMPLE;

/**
 * The model with what is known of its price and context window; one that is not known stays as it
 * is.
 */
export function withPrices(model: Model): Model {
  const usage = (fields: Record<string, number>): ReturnType<typeof calcPrice> =>
    calcPrice(fields, model.id, { providerId: providerIds[model.provider] ?? model.provider });
  const base = usage({ input_tokens: SAMPLE, output_tokens: SAMPLE });
  if (base === null) return model;
  const cached = (kind: string): number =>
    usage({ input_tokens: SAMPLE, [kind]: SAMPLE })?.total_price ?? base.input_price;
  const { context_window: contextWindow } = base.model;
  return {
    ...(contextWindow !== undefined && { contextWindow }),
    cost: {
      input: base.input_price * PER_MILLION,
      output: base.output_price * PER_MILLION,
      cacheRead: cached("cache_read_tokens") * PER_MILLION,
      cacheWrite: cached("cache_write_tokens") * PER_MILLION,
    },
    ...model,
  };
}
