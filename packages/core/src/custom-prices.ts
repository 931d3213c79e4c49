/**
 * Prices and context windows from a function that the caller passes: `calcPrice` of
 * `@pydantic/genai-prices`, or one like it. For programs in which core cannot resolve that package,
 * and for prices from elsewhere.
 */
import type { Model } from "./llm/model.ts";

/** The price of a usage, in US dollars; null for an unknown model. */
export type CalcPrice = (
  usage: PricedUsage,
  modelId: string,
  options: PricedProvider,
) => CalculatedPrice | null;

/** Tokens by genai-prices' names. `input_tokens` is all of the prompt, cached tokens included. */
export type PricedUsage = Readonly<
  Partial<
    Record<"input_tokens" | "output_tokens" | "cache_read_tokens" | "cache_write_tokens", number>
  >
>;

export interface PricedProvider {
  /** As genai-prices names it, such as `x-ai`. */
  readonly providerId: string;
}

export interface CalculatedPrice {
  readonly input_price: number;
  readonly output_price: number;
  readonly total_price: number;
  readonly model: { readonly context_window?: number };
}

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
