/**
 * Prices and context windows from a function that the caller passes: `calcPrice` of
 * `@pydantic/genai-prices`, or a compatible one. Use this entry when core cannot resolve that
 * package, or for prices from another source.
 */
import type { Model } from "./llm/model.ts";

/** Returns the price of a usage in US dollars, or null for an unknown model. */
export type CalcPrice = (
  usage: PricedUsage,
  modelId: string,
  options: PricedProvider,
) => CalculatedPrice | null;

/**
 * Token counts under the names of genai-prices. `input_tokens` counts the whole prompt, cached
 * tokens included.
 */
export type PricedUsage = Readonly<
  Partial<
    Record<"input_tokens" | "output_tokens" | "cache_read_tokens" | "cache_write_tokens", number>
  >
>;

export interface PricedProvider {
  /** The provider's name in genai-prices, such as `x-ai`. */
  readonly providerId: string;
}

export interface CalculatedPrice {
  readonly input_price: number;
  readonly output_price: number;
  readonly total_price: number;
  readonly model: { readonly context_window?: number };
}

/** Vendors whose name in genai-prices differs from ours. */
const providerIds: Readonly<Record<string, string>> = {
  xai: "x-ai",
  moonshot: "moonshotai",
  zai: "z-ai",
};

/**
 * Size of the prompt that prices are computed for. Some vendors charge more for very long prompts.
 */
const SAMPLE = 1000;
const PER_MILLION = 1_000_000 / SAMPLE;

/**
 * Returns the model with its `cost` (US dollars per million tokens) and `contextWindow`. Fields
 * that the model already has win. Returns an unknown model as is.
 */
export function withPrices(model: Model, calcPrice: CalcPrice): Model {
  const usage = (fields: PricedUsage): CalculatedPrice | null =>
    calcPrice(fields, model.id, { providerId: providerIds[model.provider] ?? model.provider });
  const base = usage({ input_tokens: SAMPLE, output_tokens: SAMPLE });
  if (base === null) return model;
  const cached = (kind: "cache_read_tokens" | "cache_write_tokens"): number =>
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
